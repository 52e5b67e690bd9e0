import { jsonAnswer } from '../../answers.ts';
import { type Check, checkFields, checkFlag, checkInteger, checkList, checkText } from '../../checks.ts';
import type { Answer, Call } from '../../contract.ts';
import { rankDocuments } from '../../relevance.ts';
import { countTokens } from '../../reply-text.ts';
import { jsonBody, refuse, refuseModel } from './errors.ts';
import { CHECK_TEXT, type Text, textOf } from './texts.ts';

const MODELS = ['jina-reranker-v3'];
const MOST = Number.MAX_SAFE_INTEGER;
const MOST_DOCUMENTS = 2048;

const FIELDS: Record<string, Check> = {
  model: checkText(),
  query: checkText(),
  documents: checkList(CHECK_TEXT, 1, MOST_DOCUMENTS),
  top_n: checkInteger(1, MOST),
  return_documents: checkFlag,
  return_embeddings: checkFlag,
  max_doc_length: checkInteger(1, MOST),
};

interface RerankRequest {
  readonly query: string;
  readonly documents: readonly Text[];
  readonly top_n?: number | null;
  readonly return_documents?: boolean | null;
}

/** `POST /v1/rerank`; the documents come back with their scores unless the request says no. */
export function answerRerank(call: Call): Answer {
  const body = jsonBody(call);
  refuseModel(call, MODELS);
  const problem = checkFields(body, FIELDS, ['query', 'documents'], '', call.fault.lenient);
  if (problem) refuse(422, problem.message);
  const request = body as unknown as RerankRequest;
  const documents = request.documents.map(textOf);
  const results = rankDocuments(request.query, documents)
    .slice(0, request.top_n ?? documents.length)
    .map(({ index, score }) => {
      const document = request.return_documents === false ? {} : { document: { text: documents[index]! } };
      return { index, ...document, relevance_score: score };
    });
  const tokens = [request.query, ...documents].reduce((sum, text) => sum + countTokens(text), 0);
  const usage = call.fault.nousage ? {} : { usage: { total_tokens: tokens, prompt_tokens: tokens } };
  return jsonAnswer(200, { model: call.model, object: 'list', ...usage, results });
}
