/* Generated from ../routes.schema.json by `npm run generate`; do not edit. */

/**
 * What the outside may ask: method and path, operation, protocol and the chain of plugins that serves it.
 */
export interface RoutesFile {
  /**
   * Operators' own plugins: JavaScript modules, paths relative to this file. Each default export is one definition or a list of them. A module is loaded anew when its own file changes (not when a file that it imports does); the earlier versions stay in memory until the gateway is restarted.
   *
   * Items: Path of a module.
   */
  plugins: string[];
  /**
   * Name → plugins in the order in which they run.
   */
  chains: {
    /**
     * The stages in order. A stage is a plugin's name, or `name: {options}`. `normalize` runs the normalizer of the model's family.
     *
     * @minItems 1
     *
     * Items: A plugin's name, or an object with the name as its only key and the options as value.
     */
    [k: string]: (
      | string
      | {
          /**
           * Options of the plugin, see its table.
           */
          [k: string]: {
            [k: string]: unknown;
          } | null;
        }
    )[];
  };
  /**
   * What happens after a failed attempt: try the next channel (`next`) or tell the client (`stop`). Nothing is tried again once the client has got a byte.
   */
  failover: {
    default?: FailoverTable;
    /**
     * For one operation.
     */
    operations?: {
      chat?: FailoverTable;
      'images.generate'?: FailoverTable;
      'images.edit'?: FailoverTable;
      'videos.create'?: FailoverTable;
      embeddings?: FailoverTable;
      rerank?: FailoverTable;
      moderations?: FailoverTable;
      'audio.transcriptions'?: FailoverTable;
      'audio.translations'?: FailoverTable;
      'audio.speech'?: FailoverTable;
      realtime?: FailoverTable;
    };
  };
  /**
   * Every route the gateway serves.
   *
   * @minItems 1
   *
   * Items: One method and path.
   */
  routes: {
    /**
     * HTTP method.
     */
    method: 'GET' | 'POST' | 'DELETE';
    /**
     * Begins with `/`. `:name` stands for one segment, a closing `/*` for the rest; `*:verb` for whatever stands before a verb, such as `/v1beta/models/*:generateContent`. Paths without such parts are found first, then the others in the order of the list.
     */
    path: string;
    /**
     * What is asked for.
     */
    operation:
      | 'chat'
      | 'chat.count'
      | 'responses.get'
      | 'responses.items'
      | 'responses.delete'
      | 'images.generate'
      | 'images.edit'
      | 'videos.create'
      | 'videos.get'
      | 'videos.content'
      | 'videos.list'
      | 'videos.delete'
      | 'embeddings'
      | 'rerank'
      | 'moderations'
      | 'audio.transcriptions'
      | 'audio.translations'
      | 'audio.speech'
      | 'realtime'
      | 'models.list'
      | 'models.get';
    /**
     * The wire format of the client; `openai-models` for the catalogue.
     */
    protocol: string;
    /**
     * Name of the chain that serves it.
     */
    chain: string;
    /**
     * For the whole request.
     */
    timeout: string;
    /**
     * The largest body that is accepted.
     */
    bodyLimit: string;
  }[];
}
/**
 * Reason or HTTP status → action.
 */
export interface FailoverTable {
  /**
   * No connection: nothing was sent.
   */
  connect?: 'next' | 'stop';
  /**
   * The connection broke after the request was sent.
   */
  reset?: 'next' | 'stop';
  /**
   * No answer in time after the request was sent.
   */
  timeout?: 'next' | 'stop';
  /**
   * An empty answer, or one that cannot be parsed.
   */
  malformed?: 'next' | 'stop';
  /**
   * The vendor refuses our account: bad credential, no credit, blocked.
   */
  credential?: 'next' | 'stop';
  /**
   * The vendor refused the content.
   */
  moderation?: 'next' | 'stop';
  /**
   * The vendor answered well but without an image, and not for safety.
   */
  'no-image'?: 'next' | 'stop';
  /**
   * A vendor's HTTP status, or `4xx` and `5xx` for all that are not named.
   */
  [k: string]: 'next' | 'stop' | undefined;
}
