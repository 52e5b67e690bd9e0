/* Generated from ../channels.schema.json by `npm run generate`; do not edit. */

/**
 * Groups of keys with their multipliers, and the vendor accounts that serve the models.
 */
export interface ChannelsFile {
  /**
   * Name → group. Every key belongs to one.
   */
  groups: {
    /**
     * What the keys of a group pay and may use.
     */
    [k: string]: {
      /**
       * List prices are multiplied by it.
       */
      multiplier: string;
      /**
       * What all keys of the group together may use. A limit that is left out does not apply.
       */
      limits?: {
        /**
         * How many requests may start within a minute.
         */
        requestsPerMinute?: number;
        /**
         * How many input and output tokens may be used within a minute.
         */
        tokensPerMinute?: number;
        /**
         * How many requests may run at the same time.
         */
        concurrency?: number;
      };
    };
  };
  /**
   * Name → one account at one vendor.
   */
  channels: {
    /**
     * One account at one vendor.
     */
    [k: string]: {
      /**
       * The plugin that knows how to talk to it.
       */
      vendor: string;
      /**
       * Where the vendor's API begins; left out: the vendor's own.
       */
      baseUrl?: string;
      /**
       * Secrets of the account, used in turn. Write them as `${env:NAME}` or `${file:PATH}`.
       *
       * @minItems 1
       *
       * Items: One secret.
       */
      credentials: string[];
      /**
       * Leave the channel out with a notice, instead of refusing the configuration, when one of its `${…}` is not set.
       */
      optional: boolean;
      /**
       * Groups whose keys it serves.
       *
       * @minItems 1
       *
       * Items: Name of a group.
       */
      groups: string[];
      /**
       * Public name → the vendor's name of the model.
       */
      models: {
        /**
         * The vendor's name of the model.
         */
        [k: string]: string;
      };
      /**
       * Channels of the highest priority are tried first.
       */
      priority: number;
      /**
       * Share of the requests among channels of the same priority; 0: only when no other of them is left.
       */
      weight: number;
      /**
       * Request headers, laid over the vendor's.
       */
      headers: {
        /**
         * Value of the header.
         */
        [k: string]: string;
      };
      /**
       * Changes to the request body that the vendor gets.
       */
      parameters: {
        /**
         * Top-level members to set.
         */
        set: {
          [k: string]: unknown;
        };
        /**
         * Top-level members to leave out.
         *
         * Items: Name of a member.
         */
        remove: string[];
      };
      /**
       * How long the vendor may take.
       */
      timeouts: {
        /**
         * Until the connection stands.
         */
        connect: string;
        /**
         * From the request to the first byte of the answer.
         */
        firstByte: string;
        /**
         * Between two chunks of the answer.
         */
        idle: string;
      };
      /**
       * When the client goes away: `cancel` the vendor's work, `drain` the answer to learn its usage, or `finish` as if the client were there.
       */
      onAbort: 'cancel' | 'drain' | 'finish';
      /**
       * A channel that fails again and again rests for a while; then one request probes it.
       */
      cooldown: {
        /**
         * After how many failures in a row.
         */
        failures: number;
        /**
         * How long the first rest lasts; each further one twice as long.
         */
        first: string;
        /**
         * How long a rest may last.
         */
        longest: string;
      };
      /**
       * Protocols this account speaks; left out: all of the vendor.
       *
       * @minItems 1
       *
       * Items: Name of a protocol.
       */
      protocols?: string[];
    };
  };
}
