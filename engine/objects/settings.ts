/** `objects` of gateway.yaml after loading: durations are ms, secrets are resolved. */
export type ChecksumMode = 'when-required' | 'when-supported';

export interface FolderSettings {
  /** Wait until the disk has the bytes before an object counts as stored. Default false. */
  readonly fsync?: boolean;
  /** ms that an image is kept after it was stored; 0: for ever. Default 0. */
  readonly retention?: number;
}

export interface S3Settings {
  readonly bucket: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /** For servers that are not AWS: `https://s3.example.com`. */
  readonly endpoint?: string;
  /** Under which name clients reach the same server; signed into the URLs. Default: `endpoint`. */
  readonly publicEndpoint?: string;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. Default false. */
  readonly forcePathStyle?: boolean;
  /** `when-supported` adds checksums that many servers besides AWS refuse. Default `when-required`. */
  readonly checksums?: ChecksumMode;
  /** Both or neither; neither: the default chain of the AWS SDK (environment, profile, instance role). */
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  /** Put in front of every key: `gateway/`. Default empty. */
  readonly prefix?: string;
  /** ms for one operation with all its attempts. Default 30000. */
  readonly timeout?: number;
}

export interface ObjectsSettings {
  readonly engine: 'folder' | 's3';
  /** ms that a URL is good for unless `sign` is told otherwise. */
  readonly urlLifetime: number;
  readonly folder?: FolderSettings;
  readonly s3?: S3Settings;
  /** Signs the URLs of the folder engine; of several the first signs and all verify. Default: generated once. */
  readonly secret?: string | readonly string[];
}
