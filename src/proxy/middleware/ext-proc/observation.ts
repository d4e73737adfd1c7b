// An exchange shown to an observing processor: copies of what goes by, in the phases that are configured.

import { ReceiveBuffer } from '../../../util/receive-buffer.ts';
import type { MiddlewareExchange } from '../../exchange/phase.ts';
import type { BodySource } from '../../message/body.ts';
import { ObservedBody } from '../../message/observed-body.ts';
import type { BodyMode, PhaseName } from './answer.ts';
import type { Observer } from './observer.ts';
import { chunkBytesMax } from './processed-body.ts';
import type { ProcessingPlan } from './processing.ts';
import { hasNoBody, requestFields, responseFields } from './shown-fields.ts';

/** A body of which more is to be shown at once than this is shown as far as that. */
const shownBytesMax = 4 * 1024 * 1024;

export class Observation {
  readonly #plan: ProcessingPlan;
  readonly #observer: Observer;

  constructor(plan: ProcessingPlan, observer: Observer) {
    this.#plan = plan;
    this.#observer = observer;
  }

  request(exchange: MiddlewareExchange): void {
    const { phases, maySee } = this.#plan;
    const { request } = exchange;
    const endOfStream = hasNoBody(request);
    if (phases.requestHeaders === 'send')
      this.#show('requestHeaders', { headers: requestFields(exchange, maySee) }, endOfStream);
    if (phases.requestBody === 'none' || !request.canCarryBody) return;
    if (endOfStream) this.#show('requestBody', { body: Buffer.alloc(0) }, true);
    else exchange.wrapRequestBody((source) => this.#watched('requestBody', phases.requestBody, source), true);
  }

  response(exchange: MiddlewareExchange): void {
    const { phases, maySee } = this.#plan;
    const { response } = exchange;
    const endOfStream = hasNoBody(response);
    if (phases.responseHeaders === 'send')
      this.#show('responseHeaders', { headers: responseFields(exchange, maySee) }, endOfStream);
    if (phases.responseBody === 'none' || response.status === 101) return;
    if (response.bodyKind === 'none') this.#show('responseBody', { body: Buffer.alloc(0) }, true);
    else if (response.own !== undefined)
      this.#showWhole('responseBody', phases.responseBody, Buffer.from(response.own));
    else exchange.wrapResponseBody((source) => this.#watched('responseBody', phases.responseBody, source), true);
  }

  #watched(phase: PhaseName, mode: BodyMode, source: BodySource): BodySource {
    if (mode === 'streamed') {
      const data = (chunk: Buffer): void => {
        for (let at = 0; at < chunk.length; at += chunkBytesMax)
          this.#show(phase, { body: Buffer.from(chunk.subarray(at, at + chunkBytesMax)) }, false);
      };
      return new ObservedBody(source, { data, end: () => this.#show(phase, { body: Buffer.alloc(0) }, true) });
    }
    const most = mode === 'buffered' ? shownBytesMax : Math.min(shownBytesMax, this.#plan.maxBodyBytes);
    const shown = new ReceiveBuffer();
    const data = (chunk: Buffer): void => shown.append(chunk, 0, Math.min(chunk.length, most - shown.length));
    return new ObservedBody(source, { data, end: () => this.#show(phase, { body: shown.content }, true) });
  }

  #showWhole(phase: PhaseName, mode: BodyMode, bytes: Buffer): void {
    const most = mode === 'bufferedPartial' ? this.#plan.maxBodyBytes : shownBytesMax;
    this.#show(phase, { body: bytes.subarray(0, most) }, true);
  }

  #show(phase: PhaseName, content: { headers: readonly string[] } | { body: Buffer }, endOfStream: boolean): void {
    this.#observer.show({ phase, ...content, endOfStream, observeOnly: true });
  }
}
