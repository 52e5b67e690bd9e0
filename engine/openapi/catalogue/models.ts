/** The models that a key may use (spec 2.10, 4.5). */
import { type EntryParameter, json, type RouteEntry } from '../entry.ts';

const tag = 'Models';
const listed = 'Filtered by key, group and channel.';
const pages: readonly EntryParameter[] = [
  { name: 'pageSize', in: 'query', description: 'Models on a page.', type: 'integer' },
  { name: 'pageToken', in: 'query', description: '`nextPageToken` of the page before.', type: 'string' },
];

export const modelEntries: readonly RouteEntry[] = [
  {
    operation: 'models.list',
    protocols: ['openai-models'],
    id: 'listModels',
    tag,
    summary: 'Models visible to the key',
    description: listed,
    replies: json('ModelListReply'),
    errors: 'OpenAiError',
  },
  {
    operation: 'models.get',
    protocols: ['openai-models'],
    id: 'retrieveModel',
    tag,
    summary: 'One model’s metadata',
    description: 'A model that the key may not use is not found.',
    replies: json('ModelReply'),
    errors: 'OpenAiError',
  },
  {
    operation: 'models.list',
    protocols: ['gemini-models'],
    id: 'listGeminiModels',
    tag,
    summary: 'Models visible to the key, in Google’s form',
    description: listed,
    parameters: pages,
    replies: json('GeminiModelList'),
    errors: 'GoogleError',
  },
  {
    operation: 'models.get',
    protocols: ['gemini-models'],
    id: 'retrieveGeminiModel',
    tag,
    summary: 'One model’s metadata, in Google’s form',
    description: 'A model that the key may not use is not found.',
    replies: json('GeminiModel'),
    errors: 'GoogleError',
  },
];
