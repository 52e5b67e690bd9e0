import { type Check, checkInteger, checkOpenObject, checkText, type Problem } from '../../checks.ts';

const MOST_METADATA = 16;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 512;

function checkEntries(check: Check): Check {
  return (value, path) => {
    const wrong = checkOpenObject(value, path);
    if (wrong) return wrong;
    for (const [name, entry] of Object.entries(value as object)) {
      const problem = check(entry, `${path}.${name}`);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** Token ids by their bias. */
export const checkBias = checkEntries(checkInteger(-100, 100));

/** At most 16 texts of 512 characters by names of 64. */
export const checkMetadata: Check = (value, path) =>
  checkEntries(checkText(LONGEST_VALUE))(value, path) ?? tooMuch(value, path);

function tooMuch(value: unknown, path: string): Problem | undefined {
  const names = Object.keys(value as object);
  if (names.length > MOST_METADATA) {
    const message = `Invalid '${path}': too many properties. Expected an object with at most ${MOST_METADATA} properties, but got an object with ${names.length} properties instead.`;
    return { param: path, code: 'object_above_max_properties', message };
  }
  const long = names.find(({ length }) => length > LONGEST_NAME);
  return long === undefined ? undefined : checkText(LONGEST_NAME)(long, path);
}
