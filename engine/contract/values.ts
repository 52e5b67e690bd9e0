/** The small types that everything shares. */
export type MaybePromise<T> = T | Promise<T>;
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}
/** A JSON Schema (draft 2020-12) as it is written in a file or in a plugin. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The structured log that plugins write to: an object of fields, then a sentence. Secrets are redacted behind it. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
