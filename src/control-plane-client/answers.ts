// Answers of this proxy to questions of its control plane (fleet.md §4): event `ask` on the stream, a message back.
import { isObject } from '../model/json-object.ts';
import { type PageAnswer, type PageQuestion, pageQuestionOf } from '../model/recorded-page.ts';
import { reasonOf } from '../telemetry/error-reason.ts';
import type { Logger } from '../telemetry/logger.ts';
import { jsonOf } from '../util/malformed-json.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { OpenStream } from './remote-source.ts';

export interface AnswersOptions {
  readonly link: Pick<ControlPlaneLink, 'post'>;
  readonly boot: string;
  readonly stream: () => OpenStream | undefined;
  readonly recorded: (question: PageQuestion) => Promise<PageAnswer>;
  readonly logger: Logger;
}

/** Questions that are answered at a time; one that fails is asked again, or its asker goes on without. */
const atOnceMax = 4;

export class Answers {
  readonly #options: AnswersOptions;
  #underWay = 0;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Takes the data of an event. What this version does not understand is not answered. */
  async onQuestion(data: string): Promise<void> {
    const { link, boot, recorded, logger } = this.#options;
    const stream = this.#options.stream();
    const event = jsonOf(data);
    const { id, op, ...rest } = isObject(event) ? event : {};
    const question = op === 'recorded' ? pageQuestionOf(rest) : undefined;
    if (stream?.token === undefined || typeof id !== 'number' || question === undefined) return;
    if (this.#underWay >= atOnceMax) return;
    this.#underWay++;
    try {
      const answer = await recorded(question);
      const outcome = await link.post(stream.url, '/api/v1/sync/answer', { token: stream.token, boot, id, answer });
      if (outcome !== 204) logger.debug({ outcome }, 'an answer to the control plane is not accepted');
    } catch (error) {
      logger.warn({ reason: reasonOf(error) }, 'a question of the control plane cannot be answered');
    } finally {
      this.#underWay--;
    }
  }
}
