/* Generated from ../gateway.schema.json by `npm run generate`; do not edit. */

/**
 * What the process itself needs: where it listens, where its data lives, what it logs.
 */
export interface GatewayFile {
  /**
   * The address the gateway listens on.
   */
  listen: {
    /**
     * Address to bind; `0.0.0.0` for all IPv4 addresses, `::` for all.
     */
    host: string;
    /**
     * TCP port; 0 takes a free one.
     */
    port: number;
  };
  /**
   * How clients reach the gateway, without a path: the base of signed image URLs. Left out: `http://host:port` of `listen`.
   */
  publicUrl?: string;
  /**
   * Folder of the database, the journal and stored objects; relative to this file. `--data` on the command line wins.
   */
  dataDirectory: string;
  /**
   * Where images are kept that clients get as URLs.
   */
  objects: {
    /**
     * `folder`: files on this machine, served by the gateway. `s3`: any S3-compatible store.
     */
    engine: 'folder' | 's3';
    /**
     * How long a signed URL works.
     */
    urlLifetime: string;
    /**
     * Key of the signatures of the `folder` engine, at least 32 characters. Of a list the first one signs and all are accepted, so that it can be rotated. Left out: one is made and kept in the data directory.
     *
     * @minItems 1
     */
    secret?: string | string[];
    /**
     * Settings of the `folder` engine, which keeps objects below `objects/` in the data directory.
     */
    folder: {
      /**
       * Wait until the disk has the bytes before an image counts as stored.
       */
      fsync: boolean;
      /**
       * How long an image is kept after it was stored; not shorter than any URL lives. `off` or 0: for ever. Videos go with their tasks, see `videos.retention`.
       */
      retention: string | number;
    };
    /**
     * Settings of the `s3` engine.
     */
    s3?: {
      /**
       * Name of the bucket. It must exist.
       */
      bucket: string;
      /**
       * Region that signatures name.
       */
      region: string;
      /**
       * URL of the store; left out: Amazon's of the region.
       */
      endpoint?: string;
      /**
       * Under which URL clients reach the same store; signed URLs begin with it. Left out: `endpoint`.
       */
      publicEndpoint?: string;
      /**
       * The bucket stands in the path instead of the host name, as most stores other than Amazon's want it.
       */
      forcePathStyle: boolean;
      /**
       * When the client sends CRC checksums. Stores that refuse them want `when-required`.
       */
      checksums: 'when-required' | 'when-supported';
      /**
       * Left out together with the secret: the SDK's own chain of credentials (environment, profile, instance).
       */
      accessKeyId?: string;
      /**
       * Write it as `${env:NAME}` or `${file:PATH}`.
       */
      secretAccessKey?: string;
      /**
       * Put before every object's key.
       */
      prefix: string;
      /**
       * For one operation with all its attempts.
       */
      timeout: string;
    };
  };
  /**
   * Users, keys, balances and the usage log.
   */
  ledger: {
    /**
     * `sqlite`: one file in the data directory.
     */
    engine: 'sqlite';
    /**
     * Every charge is written here before the last byte of the reply goes out.
     */
    journal: {
      /**
       * When charges reach the disk itself; a crash of the process loses none in any case. `batch`: before the reply ends, which then waits for the disk. `interval`: within a tenth of a second, which is what a power cut may take. `off`: when the operating system sees fit.
       */
      sync: 'off' | 'interval' | 'batch';
    };
  };
  /**
   * Answers of `/v1/responses` that clients continue with `previous_response_id`. Where a vendor keeps them itself, the gateway remembers which account does.
   */
  responses: {
    /**
     * How long an answer can be continued, read and deleted; `off` or 0: not at all, and requests that ask for it are refused.
     */
    keep: string | number;
    /**
     * All kept answers together; beyond it those of the user who keeps the most go first, and of them those that expire first.
     */
    maximumSize: string;
  };
  /**
   * Rate and concurrency limits.
   */
  counters: {
    /**
     * `memory`: counted in this process.
     */
    engine: 'memory';
  };
  /**
   * What is written to standard error.
   */
  log: {
    /**
     * The least severe entries that are written.
     */
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
    /**
     * `json`: one object a line. `pretty`: for reading.
     */
    format: 'json' | 'pretty';
    /**
     * Write one line per ended request at level `info`. The usage log has them in any case.
     */
    requests: boolean;
  };
  /**
   * Bounds on request headers.
   */
  headers: {
    /**
     * All headers of a request together; from 1kb to 1mb.
     */
    maximumBytes: string;
  };
  /**
   * Receiving request bodies. How large they may be is set per route.
   */
  body: {
    /**
     * A body must be complete within this time.
     */
    receiveTimeout: string;
  };
  /**
   * Ending on SIGTERM or SIGINT.
   */
  drain: {
    /**
     * How long running requests may go on after the listener was closed.
     */
    timeout: string;
  };
  /**
   * Video tasks: polling their vendors and storing the files.
   */
  videos: {
    /**
     * Between two polls of a young task. Older ones are asked less often: after a tenth of their age, six intervals at the most.
     */
    pollInterval: string;
    /**
     * From the submission to the end of the vendor’s work. A task that is not done by then fails and is not charged.
     */
    deadline: string;
    /**
     * How long a gateway that died still owns its tasks; then another one takes them over.
     */
    lease: string;
    /**
     * How long a channel may be missing in channels.yaml before its tasks are given up.
     */
    channelGrace: string;
    /**
     * Tasks that are polled or stored at the same time.
     */
    concurrency: number;
    /**
     * Size of one video.
     */
    maximumBytes: string;
    /**
     * For one transfer of a finished video from its vendor.
     */
    downloadTimeout: string;
    /**
     * How often fetching and storing a finished video is tried, with longer and longer pauses. After the last one the task keeps its state and is not charged.
     */
    storeAttempts: number;
    /**
     * Videos of one key that may be in the making at the same time; more are refused with 429.
     */
    openPerKey: number;
    /**
     * How long after its end a task is removed with its file; `off` or 0: only when its client deletes it. What was charged stays in the usage log.
     */
    retention: string | number;
  };
  /**
   * Bounds on realtime sessions. How long one may last and how large an event may be stands at its route (`timeout`, `bodyLimit`). A change holds for sessions that begin after it.
   */
  realtime: {
    /**
     * A session without an event for so long is ended with the code `session_expired`.
     */
    idleTimeout: string;
    /**
     * Both sides are pinged twice within this time; who answers none of them is gone.
     */
    pingTimeout: string;
    /**
     * What a client may send ahead of what its vendor takes. Who sends more is told to go: a session cannot be paused on the client's side.
     */
    bufferLimit: string;
  };
  /**
   * Counters and histograms in the format of Prometheus.
   */
  metrics: {
    /**
     * Serve them.
     */
    enabled: boolean;
    /**
     * Where they are served.
     */
    path: string;
    /**
     * Whoever asks has to send it as `Authorization: Bearer`. Left out: everybody may read them.
     */
    token?: string;
  };
}
