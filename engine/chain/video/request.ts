/** The submission that a vendor gets. */
import type { VideoRequest } from '../../contract/video.ts';
import type { UpstreamRequest } from '../../upstream/pools.ts';
import { overridden } from '../../wire/overrides.ts';
import { standardSeconds } from '../../wire/videos/read-call.ts';
import type { Target } from '../target.ts';
import { headersWithType, postRequest } from '../upstream-request.ts';

export function videoRequest(request: VideoRequest, target: Target, credential: number): UpstreamRequest {
  const said = { ...request, seconds: request.seconds ?? standardSeconds };
  const { contentType, pieces } = target.videos!.encodeRequest(said, target.vendorModel);
  const isJson = contentType === 'application/json';
  const body = isJson ? overridden(Buffer.concat(pieces), target.overrides) : pieces;
  return postRequest(target, target.paths.create!, headersWithType(target, credential, contentType), body);
}
