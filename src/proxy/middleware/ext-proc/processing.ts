// One exchange in the hands of a processor: what it is shown, in which order, and what becomes of its answers (contract.md
// §8.6). Response headers wait until the response phases are done.
import type { HeldCount } from '../../exchange/held-body.ts';
import type { LocalReply, MiddlewareExchange, MiddlewareResult } from '../../exchange/phase.ts';
import { reasonOf } from '../../external/external-failure.ts';
import { applyChange, type ChangeableFields } from '../../external/header-change.ts';
import { type HeldBodies, heldBodyBytesMax, noRoom } from '../held-bodies.ts';
import { rejection } from '../rejection.ts';
import type { Action, BodyMode, Conversation, PhaseMessage, PhaseModes, PhaseName } from './answer.ts';
import { chunkBytesMax, ProcessedBody } from './processed-body.ts';
import { hasNoBody, requestFields, responseFields } from './shown-fields.ts';

export interface ProcessingPlan {
  readonly phases: {
    readonly requestHeaders: 'send' | 'skip';
    readonly responseHeaders: 'send' | 'skip';
    readonly requestBody: BodyMode;
    readonly responseBody: BodyMode;
  };
  /** With `bufferedPartial`. */
  readonly maxBodyBytes: number;
  /** With `streamed`, each answer is about its own chunk, and not the last one about the whole body. */
  readonly chunkwise: boolean;
  /** For each message; 0 = no limit. */
  readonly timeoutMs: number;
  readonly allowOnError: boolean;
  readonly statusOnError: number;
  readonly mayChange: (lowerName: string) => boolean;
  readonly maySee: (lowerName: string) => boolean;
  readonly disableReject: boolean;
  readonly allowModeOverride: boolean;
}

type Direction = 'request' | 'response';

/** Result of a phase: an action to execute, a reply, or nothing. */
type PhaseResult = { readonly action: Action | undefined; readonly reply: LocalReply | undefined };

const goOn: PhaseResult = { action: undefined, reply: undefined };

export class Processing {
  readonly #plan: ProcessingPlan;
  readonly #conversation: Conversation;
  readonly #exchange: MiddlewareExchange;
  readonly #bodies: HeldBodies;
  /** Counts of the bodies that are shown whole. */
  readonly #counts: HeldCount[] = [];
  #modes: PhaseModes = {};
  /** True when the exchange has ended; its object may serve another one by the time an answer comes. */
  #over = false;

  constructor(plan: ProcessingPlan, conversation: Conversation, exchange: MiddlewareExchange, bodies: HeldBodies) {
    this.#bodies = bodies;
    this.#plan = plan;
    this.#conversation = conversation;
    this.#exchange = exchange;
  }

  async request(): Promise<MiddlewareResult> {
    const exchange = this.#exchange;
    const { phases, maySee } = this.#plan;
    if (phases.requestHeaders === 'send') {
      const headers = requestFields(exchange, maySee);
      const { action, reply } = await this.#ask('requestHeaders', { headers }, hasNoBody(exchange.request));
      if (reply !== undefined) return reply;
      this.#apply('request', action);
      if (action?.last === true) return this.#replace('request', action);
    }
    const mode = this.#modes.requestBody ?? phases.requestBody;
    if (mode === 'none' || !exchange.request.canCarryBody) return undefined;
    return this.#body('request', mode);
  }

  async response(): Promise<MiddlewareResult> {
    const exchange = this.#exchange;
    const { phases, maySee } = this.#plan;
    if ((this.#modes.responseHeaders ?? phases.responseHeaders) === 'send') {
      const headers = responseFields(exchange, maySee);
      const { action, reply } = await this.#ask('responseHeaders', { headers }, hasNoBody(exchange.response));
      if (reply !== undefined) return reply;
      this.#apply('response', action);
      if (action?.last === true) return this.#replace('response', action);
    }
    const mode = this.#modes.responseBody ?? phases.responseBody;
    if (mode === 'none') return undefined;
    if (exchange.response.bodyKind !== 'none') return this.#body('response', mode);
    // Envoy asks nothing about a body after headers that end the stream, and behind 101 there is a tunnel.
    return this.#plan.chunkwise || exchange.response.status === 101 ? undefined : this.#noBody();
  }

  end(): void {
    this.#over = true;
    for (const count of this.#counts) count.release();
    this.#conversation.end();
  }

  async #body(direction: Direction, mode: BodyMode): Promise<MiddlewareResult> {
    if (mode === 'streamed' && this.#plan.chunkwise) {
      this.#wrap(direction);
      return undefined;
    }
    const most = mode === 'bufferedPartial' ? this.#plan.maxBodyBytes : heldBodyBytesMax;
    const body = await this.#collect(direction, most);
    if (this.#over) throw nobodyWaits();
    if (body === undefined) return undefined;
    if (body.lacksRoom) return direction === 'request' ? noRoom : this.#failed('too many bodies are held');
    if (mode !== 'bufferedPartial' && !body.whole) return this.#tooLarge(direction);
    const shown = body.bytes.subarray(0, most);
    return mode === 'streamed' ? this.#inChunks(direction, shown) : this.#atOnce(direction, shown);
  }

  /** A response that cannot have a body is shown as an empty one; a body in the answer has no place to go. */
  async #noBody(): Promise<MiddlewareResult> {
    const { action, reply } = await this.#ask('responseBody', { body: Buffer.alloc(0) }, true);
    if (reply !== undefined) return reply;
    this.#apply('response', action);
    return undefined;
  }

  #collect(direction: Direction, bytesMax: number) {
    const count = this.#bodies.count();
    this.#counts.push(count);
    return direction === 'request'
      ? this.#exchange.collectRequestBody(bytesMax, count)
      : this.#exchange.collectResponseBody(bytesMax, count);
  }

  async #atOnce(direction: Direction, body: Buffer): Promise<MiddlewareResult> {
    const { action, reply } = await this.#ask(bodyPhase[direction], { body }, true);
    if (reply !== undefined) return reply;
    this.#apply(direction, action);
    return this.#replace(direction, action);
  }

  /** Only the answer to the last message takes effect, on the whole body. */
  async #inChunks(direction: Direction, body: Buffer): Promise<MiddlewareResult> {
    for (let at = 0; ; at += chunkBytesMax) {
      const isLast = at + chunkBytesMax >= body.length;
      const chunk = body.subarray(at, at + chunkBytesMax);
      const { action, reply } = await this.#ask(bodyPhase[direction], { body: chunk }, isLast);
      if (reply !== undefined) return reply;
      if (!isLast) continue;
      this.#apply(direction, action);
      return this.#replace(direction, action);
    }
  }

  #wrap(direction: Direction): void {
    const exchange = this.#exchange;
    let refused: LocalReply | undefined;
    const show = async (chunk: Buffer, endOfStream: boolean): Promise<Buffer> => {
      const { action, reply } = await this.#ask(bodyPhase[direction], { body: chunk }, endOfStream);
      if (reply === undefined) return action?.body ?? chunk;
      refused = reply;
      throw new Error('refused');
    };
    const stop = (): void => {
      if (refused !== undefined) exchange.interrupt(refused);
    };
    if (direction === 'request') exchange.wrapRequestBody((source) => new ProcessedBody(source, show, stop));
    else exchange.wrapResponseBody((source) => new ProcessedBody(source, show, stop));
  }

  async #ask(
    phase: PhaseName,
    content: { readonly headers: readonly string[] } | { readonly body: Buffer },
    endOfStream: boolean,
  ): Promise<PhaseResult> {
    const { timeoutMs, disableReject, allowModeOverride } = this.#plan;
    const message: PhaseMessage = { phase, ...content, endOfStream, observeOnly: false };
    if (this.#over) throw nobodyWaits();
    try {
      const answer = await this.#conversation.ask(message, timeoutMs);
      if (this.#over) throw nobodyWaits();
      if (answer.kind === 'goOn') return goOn;
      if (answer.kind === 'reject') return disableReject ? goOn : { action: undefined, reply: answer.reply };
      if (allowModeOverride && answer.modes !== undefined) this.#modes = { ...this.#modes, ...answer.modes };
      // An answer to another phase has no effect.
      return answer.phase === phase ? { action: answer, reply: undefined } : goOn;
    } catch (error) {
      if (this.#over) throw nobodyWaits();
      return this.#plan.allowOnError ? goOn : { action: undefined, reply: this.#failed(reasonOf(error)) };
    }
  }

  #apply(direction: Direction, action: Action | undefined): void {
    if (action === undefined) return;
    const { mayChange } = this.#plan;
    const fields = direction === 'request' ? this.#requestFields() : this.#responseFields();
    for (const name of action.removed) if (mayChange(name.toLowerCase())) fields.remove(name);
    for (const change of action.changes) if (mayChange(change.name.toLowerCase())) applyChange(change, fields);
  }

  #replace(direction: Direction, action: Action | undefined): undefined {
    if (action?.body === undefined) return undefined;
    if (direction === 'request') this.#exchange.replaceRequestBody(action.body);
    else this.#exchange.replaceResponseBody(action.body);
    return undefined;
  }

  #requestFields(): ChangeableFields & { remove(name: string): void } {
    const exchange = this.#exchange;
    return {
      first: (name) => exchange.request.header(name),
      set: (name, value) => exchange.setRequestField(name, value),
      append: (name, value) => exchange.appendRequestField(name, value),
      remove: (name) => exchange.removeRequestField(name),
    };
  }

  #responseFields(): ChangeableFields & { remove(name: string): void } {
    const { response } = this.#exchange;
    return {
      first: (name) => response.header(name),
      set: (name, value) => response.edits.set(name, value),
      append: (name, value) => response.edits.append(name, value),
      remove: (name) => response.edits.remove(name),
    };
  }

  #tooLarge(direction: Direction): LocalReply {
    return direction === 'request'
      ? rejection(413, 'request body too large')
      : this.#failed('the response is too large');
  }

  #failed(reason: string): LocalReply {
    return rejection(this.#plan.statusOnError, `ext_proc: ${reason}`);
  }
}

const nobodyWaits = (): Error => new Error('the exchange is over');

const bodyPhase = { request: 'requestBody', response: 'responseBody' } as const;
