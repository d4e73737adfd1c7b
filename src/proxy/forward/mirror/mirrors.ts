// Mirrors of one request: its copies as one consumer of its body. One tap serves all of them.
import type { Downstream, RestConsumer } from '../../exchange/downstream.ts';
import type { ActionExchange } from '../../exchange/entry.ts';
import type { BodySource } from '../../message/body.ts';
import { ObservedBody } from '../../message/observed-body.ts';
import type { ResponseHead } from '../../message/response.ts';
import type { UpstreamRequest } from '../../message/upstream-stream.ts';
import type { ForwardPlan, MirrorPlan } from '../forward-plan.ts';
import type { Comparison } from './comparison.ts';
import { type Mirror, startMirror } from './mirrored-request.ts';
import { type CopySink, Tee } from './tee.ts';

/** Starts the copies of a request; returns undefined where there is none. */
export function startMirrors(
  plans: readonly MirrorPlan[],
  plan: ForwardPlan,
  order: UpstreamRequest,
  exchange: ActionExchange,
): Mirrors | undefined {
  let copies: Mirror[] | undefined;
  for (const each of plans) {
    const copy = startMirror(each, plan, order, exchange);
    if (copy === undefined) continue;
    if (copies === undefined) copies = [copy];
    else copies.push(copy);
  }
  return copies && new Mirrors(copies, exchange);
}

export class Mirrors implements CopySink, RestConsumer {
  readonly #copies: readonly Mirror[];
  readonly #downstream: Downstream;
  readonly #comparisons: readonly Comparison[];
  #tee: Tee | undefined;

  constructor(copies: readonly Mirror[], { downstream, bodyUnchanged }: ActionExchange) {
    this.#copies = copies;
    this.#comparisons = copies.map(({ comparison }) => comparison).filter((each) => each !== undefined);
    this.#downstream = downstream;
    if (this.wantsRest && bodyUnchanged) downstream.restConsumer = this;
  }

  /** Returns the request's body with a tap for the copies. */
  tee(source: BodySource): Tee {
    this.#tee ??= new Tee(source, this);
    return this.#tee;
  }

  /** Called when the body is sent again from its beginning. */
  rewind(): void {
    this.#tee?.rewind();
  }

  /**
   * Takes the response to the request, `ms` after its attempt began; returns its body, which comparisons read while it
   * passes.
   */
  observed(head: ResponseHead, body: BodySource, ms: number): BodySource {
    for (const each of this.#comparisons) each.onPrimary(head, ms);
    const wanting = this.#comparisons.filter(({ wantsPrimary }) => wantsPrimary);
    if (wanting.length === 0) return body;
    return new ObservedBody(body, {
      data: (chunk) => {
        for (const each of wanting) each.primaryData(chunk);
      },
      end: () => {
        for (const each of wanting) each.primaryEnd();
      },
      broken: () => {
        for (const each of wanting) each.skip();
      },
    });
  }

  /** Called when the request has its response. Its client may go on sending, and the copies should get all of it. */
  primaryOver(): void {
    for (const copy of this.#copies) copy.onPrimaryOver();
    if (this.#downstream.restConsumer !== this) this.onRestLost();
  }

  // Callbacks of the tee, and of the client's side.

  get wantsRest(): boolean {
    return this.#copies.some(({ wantsRest }) => wantsRest);
  }

  copy(chunk: Buffer): void {
    for (const copy of this.#copies) copy.copy(chunk);
  }

  copyEnd(trailers: string): void {
    for (const copy of this.#copies) copy.copyEnd(trailers);
  }

  onRestLost(): void {
    for (const copy of this.#copies) copy.onRestLost();
  }
}
