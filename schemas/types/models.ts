/* Generated from ../models.schema.json by `npm run generate`; do not edit. */

/**
 * Families with their parameter rules, and the models that clients may name.
 */
export interface ModelsFile {
  /**
   * Name → what its models have in common.
   */
  families: {
    /**
     * Rules that its models share.
     */
    [k: string]: {
      /**
       * The plugin that applies the rules.
       */
      normalizer: string;
      /**
       * What its models can be used for.
       *
       * @minItems 1
       *
       * Items: An operation.
       */
      operations: (
        | 'chat'
        | 'images.generate'
        | 'images.edit'
        | 'videos.create'
        | 'embeddings'
        | 'rerank'
        | 'moderations'
        | 'audio.transcriptions'
        | 'audio.translations'
        | 'audio.speech'
        | 'realtime'
      )[];
      /**
       * `owned_by` in the model list.
       */
      ownedBy: string;
      /**
       * The family's rules; which keys there are says the normalizer's table.
       */
      rules: {
        [k: string]: unknown;
      };
    };
  };
  /**
   * Public name → model.
   */
  models: {
    /**
     * One model. A line is enough: family and price.
     */
    [k: string]: {
      /**
       * Name of its family.
       */
      family: string;
      /**
       * List price in USD, as decimal strings. Tokens are priced per million. A group's multiplier is applied to it.
       */
      price: {
        /**
         * Per image.
         */
        image?: string;
        /**
         * Per request that delivered something.
         */
        request?: string;
        /**
         * Per second of audio or video.
         */
        second?: string;
        /**
         * Per character of input.
         */
        character?: string;
        /**
         * Per search unit of a rerank.
         */
        searchUnit?: string;
        /**
         * Per million input tokens.
         */
        input?: string;
        /**
         * Per million input tokens read from a cache; left out: as `input`.
         */
        cachedInput?: string;
        /**
         * Per million input tokens written to a cache; left out: as `input`.
         */
        cacheWrite?: string;
        /**
         * Per million output tokens.
         */
        output?: string;
        /**
         * Per million reasoning tokens; left out: as `output`.
         */
        reasoning?: string;
        /**
         * Per million input tokens that stand for audio; left out: as `input`.
         */
        audioInput?: string;
        /**
         * Per million output tokens that stand for audio; left out: as `output`.
         */
        audioOutput?: string;
      };
      /**
       * Laid over the family's rules: objects are merged, anything else replaces.
       */
      rules: {
        [k: string]: unknown;
      };
      /**
       * Fewer operations than the family's.
       *
       * @minItems 1
       *
       * Items: An operation.
       */
      operations?: (
        | 'chat'
        | 'images.generate'
        | 'images.edit'
        | 'videos.create'
        | 'embeddings'
        | 'rerank'
        | 'moderations'
        | 'audio.transcriptions'
        | 'audio.translations'
        | 'audio.speech'
        | 'realtime'
      )[];
      /**
       * What all keys together may use. A limit that is left out does not apply.
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
      /**
       * `owned_by` in the model list; left out: the family's.
       */
      ownedBy?: string;
      /**
       * Date in the model list.
       */
      created: string;
      /**
       * Upper bound of output tokens, used to estimate what a request may cost.
       */
      maxOutputTokens?: number;
    };
  };
}
