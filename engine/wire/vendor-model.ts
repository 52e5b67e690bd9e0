/** Another model's name in a body that otherwise stays as it came. */
import type { JsonValue } from '../contract/values.ts';
import type { ParameterOverrides } from '../contract/wire.ts';
import { rewriteMembers } from './json.ts';
import { layOver } from './overrides.ts';

/** The body under the vendor's name for the model, with the channel's own parameters laid over it. */
export function withVendorModel(
  body: Buffer,
  model: JsonValue,
  vendorModel: string,
  overrides: ParameterOverrides | null,
): Buffer {
  const changes = new Map<string, string | null>();
  if (vendorModel !== model || mayRepeatModel(body)) changes.set('model', JSON.stringify(vendorModel));
  if (overrides !== null) layOver(changes, overrides);
  return changes.size === 0 ? body : rewriteMembers(body, changes);
}

/**
 * A body may name the model twice, or with escapes in the key. Parsers disagree on which one counts; the vendor must not
 * read another name than the gateway bills, so all of them are written anew.
 */
export function mayRepeatModel(body: Buffer): boolean {
  const first = body.indexOf('"model"');
  return first < 0 || body.indexOf('"model"', first + 1) >= 0 || body.indexOf('\\u006') >= 0;
}
