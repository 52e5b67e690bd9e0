/** Another model's name in a body that otherwise stays as it came. */
import type { JsonObject, JsonValue } from '../contract/values.ts';
import type { ParameterOverrides } from '../contract/wire.ts';
import { renameModel, rewriteMembers } from './json.ts';
import { layOver } from './overrides.ts';

/**
 * The body under the vendor's name for the model. `model` is what its top-level member says; `own` the members that the
 * protocol writes anew, and over them are laid the channel's own parameters.
 */
export function withVendorModel(
  body: Buffer,
  model: JsonValue,
  vendorModel: string,
  overrides: ParameterOverrides | null,
  own: JsonObject | null = null,
): Buffer {
  const renames = vendorModel !== model;
  if (renames && typeof model === 'string' && overrides === null && own === null) {
    const renamed = renameModel(body, vendorModel);
    if (renamed !== null) return renamed;
  }
  const changes = new Map<string, string | null>();
  if (renames || mayRepeatModel(body)) changes.set('model', JSON.stringify(vendorModel));
  if (own !== null) for (const [name, value] of Object.entries(own)) changes.set(name, JSON.stringify(value));
  if (overrides !== null) layOver(changes, overrides);
  return changes.size === 0 ? body : rewriteMembers(body, changes);
}

/**
 * A body may name the model twice, or with escapes in the key. Parsers disagree on which one counts; the vendor must not
 * read another name than the gateway bills, so all of them are written anew.
 */
function mayRepeatModel(body: Buffer): boolean {
  const first = body.indexOf('"model"');
  return first < 0 || body.indexOf('"model"', first + 1) >= 0 || body.indexOf('\\u006') >= 0;
}
