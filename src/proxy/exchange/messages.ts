// Messages of an exchange, as middlewares read and change them: the client's request on its way to the upstream, and
// the response on its way back (proxy.md, Bodies).
import type { BodySource } from '../message/body.ts';
import type { BodyKind } from '../message/request.ts';
import type { Downstream } from './downstream.ts';
import { EditedMessages } from './edited-messages.ts';
import type { CollectedBody, HeldBody, HeldCount } from './held-body.ts';
import { RequestBody } from './request-body.ts';
import { collectBody, isUnderWay, replaceBody, wrapBody } from './response-body.ts';

export abstract class Messages extends EditedMessages {
  readonly downstream: Downstream;
  protected readonly body: RequestBody;

  constructor(downstream: Downstream) {
    super(downstream.request);
    this.downstream = downstream;
    this.body = new RequestBody(downstream);
  }

  /** Cancels the source of the response's body. */
  protected abstract cancelRun(): void;

  get requestBytes(): number {
    return this.downstream.requestBytes;
  }

  get responseBytes(): number {
    return this.downstream.response.responseBytes;
  }

  get bodyKind(): BodyKind {
    return this.body.kind;
  }

  get bodyUntouched(): boolean {
    return this.body.untouched;
  }

  get bodyUnchanged(): boolean {
    return this.body.unchanged;
  }

  requestBody(): BodySource {
    return this.body.source;
  }

  heldRequestBody(): HeldBody {
    return this.body.held;
  }

  collectRequestBody(
    bytesMax: number,
    count?: HeldCount,
  ): CollectedBody | undefined | Promise<CollectedBody | undefined> {
    return this.body.collect(bytesMax, count);
  }

  replaceRequestBody(bytes: Uint8Array): void {
    this.body.replace(bytes);
  }

  wrapRequestBody(wrap: (source: BodySource) => BodySource, sameLength = false): void {
    this.body.wrap(wrap, sameLength);
  }

  collectResponseBody(
    bytesMax: number,
    count?: HeldCount,
  ): CollectedBody | undefined | Promise<CollectedBody | undefined> {
    return collectBody(this.response, bytesMax, count);
  }

  replaceResponseBody(bytes: Uint8Array): void {
    if (isUnderWay(this.response)) this.cancelRun();
    replaceBody(this.response, bytes);
  }

  wrapResponseBody(wrap: (source: BodySource) => BodySource, sameLength = false): void {
    // A message without a body on the wire has none to wrap.
    if (this.response.bodyKind === 'none' || this.request.method === 'HEAD') return;
    wrapBody(this.response, wrap, sameLength);
  }

  flushResponse(): void {
    this.downstream.response.flush();
  }
}
