/** A fresh bucket on the test's Swift, and what is in it. */
import { CreateBucketCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { createStoringClient } from '../../engine/objects/s3-client.ts';
import type { S3Settings } from '../../engine/objects/settings.ts';
import type { Swift } from '../swift/start.ts';
import { recordingLog } from './recording-log.ts';

let bucketsMade = 0;

export interface TestBucket {
  readonly settings: S3Settings;
  keys(): Promise<string[]>;
  close(): void;
}

export async function makeBucket(swift: Swift): Promise<TestBucket> {
  const { endpoint, accessKeyId, secretAccessKey } = swift;
  bucketsMade += 1;
  const bucket = `bucket-${bucketsMade}`;
  const settings = { bucket, endpoint, forcePathStyle: true, accessKeyId, secretAccessKey };
  const client = createStoringClient(settings, recordingLog());
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const keys = async () => {
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return (listed.Contents ?? []).map(({ Key }) => Key ?? '');
  };
  return { settings, keys, close: () => client.destroy() };
}
