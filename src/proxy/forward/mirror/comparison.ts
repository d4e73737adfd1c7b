// Comparison of one response with that of the mirror (contract.md §7.13): both sides are kept while they pass, and
// compared once both are over. It never holds up the primary.
import type { MirrorMismatch } from '../../../model/answers/request-answers.ts';
import type { Difference, DifferingText, Verdict } from '../../exchange/verdict.ts';
import { combinedValue } from '../../fields/field-lines.ts';
import type { ResponseHead } from '../../message/response.ts';
import { bodyDifference } from './body-difference.ts';
import type { ComparePlan } from './compare-plan.ts';
import { KeptBody } from './kept-body.ts';

const skipped: Verdict = { result: 'skipped', deltaMs: undefined, difference: undefined };

class Side {
  status = 0;
  ms = 0;
  /** By place in the plan's list. */
  fields: readonly (string | undefined)[] = [];
  coding: string | undefined;
  readonly kept: KeptBody;
  hasHead = false;
  ended = false;

  constructor(bytesMax: number) {
    this.kept = new KeptBody(bytesMax);
  }

  take({ status, lines, bodyKind, bodyLength }: ResponseHead, { headers, body }: ComparePlan, ms: number): void {
    this.hasHead = true;
    this.status = status;
    this.ms = ms;
    this.fields = headers.map((name) => combinedValue(lines, name));
    this.coding = combinedValue(lines, 'content-encoding');
    this.ended = body === 'none' || bodyKind === 'none';
    if (!this.ended && bodyKind === 'length') this.kept.expect(bodyLength);
  }
}

export class Comparison {
  readonly #plan: ComparePlan;
  readonly #primary: Side;
  readonly #mirror: Side;
  /** Undefined once there is a verdict. */
  #report: ((verdict: Verdict) => void) | undefined;
  /** Failure of the mirror. */
  #failed: { readonly result: 'status' | 'body'; readonly text: DifferingText } | undefined;

  constructor(plan: ComparePlan, report: (verdict: Verdict) => void) {
    this.#plan = plan;
    this.#primary = new Side(plan.maxBytes);
    this.#mirror = new Side(plan.maxBytes);
    this.#report = report;
  }

  /** True while the body of the primary is to be kept. */
  get wantsPrimary(): boolean {
    return this.#report !== undefined && this.#primary.hasHead && !this.#primary.ended;
  }

  onPrimary(head: ResponseHead, ms: number): void {
    this.#onHead(this.#primary, head, ms);
  }

  onMirror(head: ResponseHead, ms: number): void {
    this.#onHead(this.#mirror, head, ms);
  }

  primaryData(chunk: Buffer): void {
    this.#keep(this.#primary, chunk);
  }

  mirrorData(chunk: Buffer): void {
    this.#keep(this.#mirror, chunk);
  }

  primaryEnd(): void {
    this.#onEnd(this.#primary);
  }

  mirrorEnd(): void {
    this.#onEnd(this.#mirror);
  }

  /** Handles the end of the primary's exchange: a response that is not whole by then never is. */
  primaryOver(): void {
    if (!this.#primary.ended) this.skip();
  }

  /** Handles the failure of a mirror that was called: no response is another status, a part of one another body. */
  mirrorFailed(why: string): void {
    if (this.#mirror.ended) return;
    const result = this.#mirror.hasHead ? 'body' : 'status';
    const text = { text: why, from: 0 };
    this.#failed = { result, text };
    this.#onEnd(this.#mirror);
  }

  /** Handles the end of the mirror, for a reason that says nothing about its destination where it has not ended before. */
  mirrorOver(): void {
    if (!this.#mirror.ended) this.skip();
  }

  skip(): void {
    this.#finish(skipped);
  }

  #onHead(side: Side, head: ResponseHead, ms: number): void {
    if (this.#report === undefined) return;
    side.take(head, this.#plan, ms);
    this.#look();
  }

  #keep(side: Side, chunk: Buffer): void {
    if (this.#report === undefined || side.ended) return;
    if (!side.kept.push(chunk)) this.skip();
  }

  #onEnd(side: Side): void {
    if (side.ended) return;
    side.ended = true;
    this.#look();
  }

  /** Compares beside the other work of the thread, once both sides have ended. */
  #look(): void {
    if (this.#report !== undefined && this.#primary.ended && this.#mirror.ended) setImmediate(() => this.#compare());
  }

  #compare(): void {
    if (this.#report === undefined) return;
    const [a, b] = [this.#primary, this.#mirror];
    const deltaMs = this.#plan.latency && b.hasHead ? b.ms - a.ms : undefined;
    const found = this.#found();
    if (found === undefined) {
      this.#finish({ result: 'same', deltaMs, difference: undefined });
      return;
    }
    const { result, pointer, header, primary, mirror } = found;
    const sides = { primary: { status: a.status, text: primary }, mirror: { status: b.status, text: mirror } };
    this.#finish({ result, deltaMs, difference: { pointer, header, ...sides } });
  }

  #found(): Found | undefined {
    const { status, headers, body } = this.#plan;
    const [a, b] = [this.#primary, this.#mirror];
    const failed = this.#failed;
    if (failed?.result === 'status') return { ...nowhere, result: 'status', mirror: failed.text };
    if (status && a.status !== b.status) return { ...nowhere, result: 'status' };
    const at = headers.findIndex((_, place) => a.fields[place] !== b.fields[place]);
    if (at >= 0) {
      const [primary, mirror] = [textOf(a.fields[at]), textOf(b.fields[at])];
      return { result: 'headers', pointer: undefined, header: headers[at], primary, mirror };
    }
    if (failed !== undefined) return { ...nowhere, result: 'body', mirror: failed.text };
    const difference = body === 'none' ? undefined : bodyDifference(a, b, this.#plan);
    return difference && { result: 'body', header: undefined, ...difference };
  }

  #finish(verdict: Verdict): void {
    const report = this.#report;
    this.#report = undefined;
    this.#primary.kept.clear();
    this.#mirror.kept.clear();
    report?.(verdict);
  }
}

interface Found extends Pick<Difference, 'pointer' | 'header'> {
  readonly result: MirrorMismatch['result'];
  readonly primary: DifferingText | undefined;
  readonly mirror: DifferingText | undefined;
}

const nowhere = { pointer: undefined, header: undefined, primary: undefined, mirror: undefined };

const textOf = (value: string | undefined): DifferingText | undefined =>
  value === undefined ? undefined : { text: value, from: 0 };
