/** A fresh bucket on the test's Swift, and what is in it. */
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { S3Settings } from '../../engine/objects/settings.ts';
import type { Swift } from '../swift/start.ts';

let bucketsMade = 0;

export interface TestBucket {
  readonly settings: S3Settings;
  keys(): Promise<string[]>;
  close(): void;
}

export async function makeBucket(swift: Swift): Promise<TestBucket> {
  const { endpoint, accessKeyId, secretAccessKey } = swift;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  bucketsMade += 1;
  const bucket = `bucket-${bucketsMade}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const keys = async () => {
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return (listed.Contents ?? []).map(({ Key }) => Key ?? '');
  };
  const settings = { bucket, endpoint, forcePathStyle: true, accessKeyId, secretAccessKey };
  return { settings, keys, close: () => client.destroy() };
}
