/** `videos` of gateway.yaml after loading: durations are ms, sizes bytes. */
export interface VideoSettings {
  /** Between two polls of a young task; older ones are asked less often. */
  readonly pollInterval: number;
  /** From the submission to the end of the vendor's work. */
  readonly deadline: number;
  /** How long a gateway that died still owns its tasks. */
  readonly lease: number;
  /** How long a channel may be missing in the configuration before its tasks are given up. */
  readonly channelGrace: number;
  /** Tasks that are polled or stored at the same time. */
  readonly concurrency: number;
  readonly maximumBytes: number;
  /** For one transfer of a file. */
  readonly downloadTimeout: number;
  /** How often storing a file is tried. */
  readonly storeAttempts: number;
  /** Open tasks of one key. */
  readonly openPerKey: number;
  /** From the end of a task until it is removed with its file; 0: never. */
  readonly retention: number;
}
