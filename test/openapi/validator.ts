/** Checks values against the schemas of an OpenAPI document. */
import { type ErrorObject, Ajv2020 as Validator } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
export type Document = any;

export interface Schemas {
  /** What is wrong with a value; empty where it fits. */
  faultsOf(name: string, value: unknown): string[];
}

const sentence = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;

export function createSchemas(document: Document): Schemas {
  const validator = new Validator({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
  });
  validator.addFormat('uri', (text) => URL.canParse(text));
  validator.addFormat('binary', true);
  validator.addVocabulary(['components']);
  validator.addSchema({ $id: 'document', components: { schemas: document.components.schemas } });
  return {
    faultsOf(name, value) {
      const check = validator.getSchema(`document#/components/schemas/${name}`);
      if (check === undefined) throw new Error(`the document has no schema ${name}`);
      return check(value) ? [] : (check.errors ?? []).map(sentence);
    },
  };
}
