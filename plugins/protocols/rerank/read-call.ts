/** The union of Cohere's and Jina's fields. */
import {
  arrayAt,
  booleanOrNull,
  type DirectCall,
  estimatedUsage,
  GatewayError,
  invalidType,
  isObject,
  type JsonObject,
  type JsonValue,
  optionalCount,
  type RerankRequest,
  requiredString,
  textTokens,
  unsupported,
} from '../../../engine/plugin.ts';

const mostDocuments = 10_000;
/** How Cohere counts: documents longer than this, with the query, are several; a hundred are one search unit. */
const tokensPerChunk = 500;
const chunksPerUnit = 100;

/** Fields with a neutral meaning; all others are the vendor's own. */
const neutralFields = new Set([
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
  'max_tokens_per_doc',
  'max_doc_length',
]);

function textOf(document: JsonValue, index: number): string {
  const place = `documents[${index}]`;
  if (typeof document === 'string') return document;
  if (!isObject(document)) throw invalidType(place, 'a string or an object with `text`');
  if (typeof document.text !== 'string') throw invalidType(`${place}.text`, 'a string');
  return document.text;
}

function documentsOf({ documents }: JsonObject): string[] {
  if (documents === undefined || documents === null)
    throw new GatewayError('missing_required_parameter', '`documents` is required.', { param: 'documents' });
  const list = arrayAt(documents, 'documents');
  if (list.length === 0 || list.length > mostDocuments)
    throw new GatewayError('invalid_value', `\`documents\` must have 1 to ${mostDocuments} entries.`, {
      param: 'documents',
    });
  return list.map(textOf);
}

/** Cohere and Jina call it differently. */
function longestDocument(body: JsonObject): number | null {
  const cohere = optionalCount(body, 'max_tokens_per_doc', 1);
  const jina = optionalCount(body, 'max_doc_length', 1);
  if (cohere !== null && jina !== null && cohere !== jina)
    throw new GatewayError(
      'conflicting_parameters',
      '`max_tokens_per_doc` and `max_doc_length` contradict each other.',
      {
        param: 'max_doc_length',
      },
    );
  return cohere ?? jina;
}

/** Fields of Cohere's first version that its second one, and everybody else, lacks. */
function refuseOld({ rank_fields: fields, max_chunks_per_doc: chunks }: JsonObject): void {
  const isText = Array.isArray(fields) && fields.length === 1 && fields[0] === 'text';
  if (fields !== undefined && fields !== null && !isText)
    throw unsupported('rank_fields', 'can be `["text"]` only: documents are ranked by their `text`.');
  if (chunks !== undefined && chunks !== null)
    throw unsupported('max_chunks_per_doc', 'is not supported; use `max_tokens_per_doc`.');
}

/** `model`, `query`, `documents`, `top_n`, `return_documents`, `max_tokens_per_doc` or `max_doc_length`. */
export function readCall(body: JsonObject): DirectCall {
  const model = requiredString(body, 'model');
  const query = textTokens(requiredString(body, 'query'));
  const documents = documentsOf(body).map(textTokens);
  optionalCount(body, 'top_n', 1);
  booleanOrNull(body.return_documents, 'return_documents');
  longestDocument(body);
  refuseOld(body);
  const chunks = documents.reduce((sum, tokens) => sum + Math.ceil((query + tokens) / tokensPerChunk), 0);
  const input = documents.reduce((sum, tokens) => sum + tokens, query);
  const bound = estimatedUsage({ input, searchUnits: Math.ceil(chunks / chunksPerUnit) });
  return { kind: 'direct', operation: 'rerank', model, stream: false, bound, known: {}, body, form: null };
}

export function decodeRequest({ body }: DirectCall): RerankRequest {
  const others = Object.entries(body).filter(([name]) => !neutralFields.has(name) && name !== 'rank_fields');
  return {
    query: requiredString(body, 'query'),
    documents: documentsOf(body),
    topN: optionalCount(body, 'top_n', 1),
    maxTokensPerDocument: longestDocument(body),
    extra: Object.fromEntries(others.filter(([, value]) => value !== null)),
  };
}
