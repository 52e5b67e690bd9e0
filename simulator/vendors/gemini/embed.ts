import type { Answer, Call } from '../../contract.ts';
import { embedText } from '../../vectors.ts';
import { geminiAnswer } from './answer.ts';
import { type Content, textOf } from './contents.ts';
import { refuse, refuseField } from './errors.ts';
import { modelFor } from './models.ts';
import { readMessage } from './request.ts';

const MOST_REQUESTS = 100;

interface EmbedRequest {
  readonly model?: string;
  readonly content?: Content;
  readonly taskType?: string;
  readonly title?: string;
  readonly outputDimensionality?: number;
}

/** `:embedContent`. */
export function answerEmbed(call: Call): Answer {
  modelFor(call, 'embedContent');
  const request = readMessage('EmbedContentRequest', call) as EmbedRequest;
  return geminiAnswer(200, { embedding: { values: vectorOf(request, 'EmbedContentRequest', call) } });
}

/** `:batchEmbedContents`; each request names the model once more. */
export function answerBatch(call: Call): Answer {
  const { name } = modelFor(call, 'embedContent');
  const { requests = [] } = readMessage('BatchEmbedContentsRequest', call) as { requests?: EmbedRequest[] };
  if (requests.length === 0 || requests.length > MOST_REQUESTS)
    refuseField(
      'requests',
      `* BatchEmbedContentsRequest.requests: from 1 to ${MOST_REQUESTS} requests can be in one batch`,
      call,
    );
  const embeddings = requests.map((request, index) => {
    const path = `BatchEmbedContentsRequest.requests[${index}]`;
    if (request.model?.split('!')[0] !== `models/${name}`)
      refuseField(`requests[${index}].model`, `* ${path}.model: unexpected model name format or another model`, call);
    return { values: vectorOf(request, path, call) };
  });
  return geminiAnswer(200, { embeddings });
}

function vectorOf(request: EmbedRequest, path: string, call: Call): readonly number[] {
  const { content, taskType = 'TASK_TYPE_UNSPECIFIED', title, outputDimensionality } = request;
  const most = modelFor(call).facts.dimensions!;
  const text = content ? textOf([content]) : '';
  if (text === '') refuseField('content', `* ${path}.content: content is empty`, call);
  if (title !== undefined && taskType !== 'RETRIEVAL_DOCUMENT')
    refuse(400, { message: 'The title can only be set when task_type is RETRIEVAL_DOCUMENT.' }, call);
  if (outputDimensionality !== undefined && (outputDimensionality < 1 || outputDimensionality > most))
    refuseField(
      'output_dimensionality',
      `* ${path}.output_dimensionality: output_dimensionality must be in the range [1, ${most}].`,
      call,
    );
  return embedText(text, most, outputDimensionality);
}
