/** One submission at its vendors: the task is in the database before any of them hears of it, and before the client does. */
import { noUsage } from '../../contract/usage.ts';
import type { Log } from '../../contract/values.ts';
import type { VideoCall, VideoProtocol } from '../../contract/video.ts';
import { GatewayError } from '../../errors.ts';
import { createTaskId, credentialMark, type TaskOrigin, type TaskPlace, type VideoTasks } from '../../tasks/index.ts';
import { Answer } from '../../upstream/answer.ts';
import { standardSeconds } from '../../wire/videos/read-call.ts';
import { jsonAnswer, sayable } from '../attempt-failure.ts';
import { Attempts, type Try } from '../attempts.ts';
import type { Ending } from '../ending.ts';
import type { LiveExchange } from '../exchange.ts';
import { tryChannels } from '../try-channels.ts';
import { videoRequest } from './request.ts';

const largestAnswer = 1024 * 1024;

export interface VideoRunParts {
  readonly client: NonNullable<VideoProtocol['client']>;
  readonly tasks: VideoTasks;
  readonly ending: Ending;
  readonly log: Log;
}

export class VideoRun {
  private readonly exchange: LiveExchange;
  private readonly call: VideoCall;
  private readonly parts: VideoRunParts;
  private readonly attempts: Attempts;
  private answer: Answer | null = null;
  private stopped: GatewayError | null = null;

  constructor(exchange: LiveExchange, call: VideoCall, parts: VideoRunParts) {
    this.exchange = exchange;
    this.call = call;
    this.parts = parts;
    this.attempts = new Attempts(exchange, exchange.offer!, exchange.route.failover, parts.log);
  }

  /** Ends the exchange, whatever happens. A client that leaves changes nothing: what was ordered is made. */
  async run(): Promise<void> {
    const { exchange } = this;
    const { tasks, client, ending } = this.parts;
    const { timeout } = exchange.route;
    exchange.onExpire = () =>
      this.stop(new GatewayError('upstream_timeout', `No vendor accepted the video within ${timeout / 1000} s.`));
    const origin = this.origin();
    try {
      await tasks.begin(origin);
      const video = await this.submit(origin);
      const body = Buffer.from(JSON.stringify(client.encodeCreated(video)));
      ending.sendWhole(exchange, { kind: 'accepted', status: 200, code: null, usage: noUsage }, body);
    } catch (error) {
      ending.fail(exchange, this.stopped ?? error);
    }
  }

  private stop(error: GatewayError): void {
    this.stopped ??= error;
    this.answer?.abort();
  }

  private async submit(origin: TaskOrigin) {
    const { tasks } = this.parts;
    try {
      const place = await this.tryChannels();
      return await tasks.accept(origin, place, this.exchange.hold);
    } catch (error) {
      await tasks.discard(origin.id);
      throw error;
    }
  }

  /** All that settling needs, as it is now: no later configuration changes what was agreed. */
  private origin(): TaskOrigin {
    const { exchange, call } = this;
    const { key, group } = exchange.principal!;
    const { model } = exchange.offer!;
    return {
      id: createTaskId(),
      requestId: exchange.id,
      userId: key.userId,
      keyId: key.id,
      endpoint: exchange.route.path,
      model: model.name,
      group: group.name,
      multiplier: group.multiplier,
      price: model.price,
      held: exchange.hold?.amount ?? null,
      prompt: call.request.prompt,
      seconds: call.request.seconds ?? standardSeconds,
      size: call.request.size,
      createdAt: exchange.startedAt,
      deadlineAt: exchange.startedAt + this.parts.tasks.settings().deadline,
    };
  }

  private tryChannels(): Promise<TaskPlace> {
    return tryChannels(this.attempts, {
      attempt: async (tried) => {
        const vendorId = await this.attempt(tried);
        this.attempts.succeeded(tried, this.answer!.status);
        return this.placeOf(tried, vendorId);
      },
      giveUp: () => this.answer?.abort(),
      stopped: () => this.stopped,
      begun: () => false,
    });
  }

  private placeOf({ target, credential }: Try, vendorId: string): TaskPlace {
    return {
      channel: target.channel.name,
      credential: credentialMark(target.channel.credentials[credential]!),
      credentialIndex: credential,
      protocol: target.protocol,
      vendorModel: target.vendorModel,
      vendorId,
      attempts: this.exchange.attempts.length,
    };
  }

  /** The vendor's id of the work. */
  private async attempt({ target, credential }: Try): Promise<string> {
    const request = sayable(() => videoRequest(this.call.request, target, credential));
    this.answer = Answer.send(target.connections, request);
    const codec = target.videos!;
    const { vendor } = target.channel;
    return codec.decodeCreated(await jsonAnswer(this.answer, largestAnswer, vendor, (body) => codec.decodeError(body)));
  }
}
