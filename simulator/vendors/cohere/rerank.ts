import { jsonAnswer, nextId } from '../../answers.ts';
import { type Check, checkFields, checkInteger, checkList, checkText } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { rankDocuments } from '../../relevance.ts';
import { countTokens } from '../../reply-text.ts';
import { cohereHeaders, jsonBody, refuse, refuseModel, refuseProblem } from './errors.ts';

const MODELS = ['rerank-v3.5', 'rerank-v4.0-pro'];
const MOST = Number.MAX_SAFE_INTEGER;
const MOST_DOCUMENTS = 10_000;
const STANDARD_TOKENS = 4096;
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_CHUNK = 500;
const DOCUMENTS_PER_UNIT = 100;

/** `return_documents` and documents that are objects belong to v1. */
const FIELDS: Record<string, Check> = {
  model: checkText(),
  query: checkText(),
  documents: checkList(checkText(), 1, MOST_DOCUMENTS),
  top_n: checkInteger(1, MOST),
  max_tokens_per_doc: checkInteger(1, MOST),
  priority: checkInteger(0, 999),
};

interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n?: number | null;
  readonly max_tokens_per_doc?: number | null;
}

/** `POST /v2/rerank`. */
export function answerRerank(call: Call): Answer {
  const body = jsonBody(call);
  refuseModel(call, MODELS);
  refuseProblem(checkFields(body, FIELDS, ['query', 'documents'], '', call.fault.lenient));
  const request = body as unknown as RerankRequest;
  if (request.query === '') refuse(400, 'invalid request: query must not be empty');
  const limit = (request.max_tokens_per_doc ?? STANDARD_TOKENS) * CHARACTERS_PER_TOKEN;
  const documents = request.documents.map((document) => document.slice(0, limit));
  const results = rankDocuments(request.query, documents)
    .slice(0, request.top_n ?? documents.length)
    .map(({ index, score }) => ({ index, relevance_score: score }));
  const units = { billed_units: { search_units: searchUnits(request.query, documents) } };
  const version = { api_version: { version: '2', is_experimental: false } };
  const meta = { ...version, ...(call.fault.nousage ? {} : units) };
  return jsonAnswer(200, { id: nextId('rerank-'), results, meta }, cohereHeaders());
}

/** One for every 100 documents; a document that is longer than 500 tokens with the query counts as several. */
function searchUnits(query: string, documents: readonly string[]): number {
  const asked = countTokens(query);
  const chunks = documents.map((document) => Math.ceil((asked + countTokens(document)) / TOKENS_PER_CHUNK));
  return Math.ceil(chunks.reduce((sum, count) => sum + count, 0) / DOCUMENTS_PER_UNIT);
}
