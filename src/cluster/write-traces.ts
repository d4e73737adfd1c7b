// Spans of writes on this node: `propose` while a write is under way, `commit` while the log agrees, `apply` when it
// becomes part of the state; the node that carries it to the leader records `relay`. Each node that takes part records
// its own spans; for activations and rollouts that is every node, for the command carries its trace context.
import type { RequestId } from '../model/answers/member-messages.ts';
import type { Applied } from '../state/config-state.ts';
import type { WorkSpan, WorkTraces } from '../telemetry/traces/work-traces.ts';

export class WriteTraces {
  readonly #work: WorkTraces;
  readonly #byRequest = new Map<string, WorkSpan>();
  readonly #requests = new Map<WorkSpan, string>();

  constructor(work: WorkTraces) {
    this.#work = work;
  }

  /** @param failureOf returns the failure in a result, of few different values. */
  async proposing<Result>(
    operation: string,
    run: () => Promise<Result>,
    failureOf: (result: Result) => string = () => '',
  ): Promise<Result> {
    const span = this.#work.begin('internal', 'propose', { 'sluice.write.operation': operation });
    let failure = 'failed';
    try {
      const result = await this.#work.run(span, run);
      failure = failureOf(result);
      return result;
    } catch (error) {
      failure = codeOf(error);
      throw error;
    } finally {
      span.end(failure);
      this.#forget(span);
    }
  }

  /** The write under way has this id. */
  named(requestId: RequestId): void {
    const span = this.#work.current;
    if (span?.context === undefined) return;
    const key = keyOf(requestId);
    this.#byRequest.set(key, span);
    this.#requests.set(span, key);
  }

  /**
   * Notes that the write is handed to the log of this node. The caller calls the returned function when the log has
   * answered.
   */
  committing(): (refusal: string) => void {
    const { current } = this.#work;
    if (current === undefined) return () => {};
    const span = this.#work.begin('internal', 'commit');
    return (refusal) => span.end(refusal);
  }

  /** Trace context of the write that is proposed now, for all nodes. */
  get carried(): string | undefined {
    return this.#work.current?.traceparent;
  }

  /** Monotonic milliseconds; before its caller is answered. */
  applied({ index, requestId, trace }: Applied, fromMs: number, untilMs: number): void {
    const own =
      requestId === undefined || this.#byRequest.size === 0 ? undefined : this.#byRequest.get(keyOf(requestId));
    const span = own ?? (trace === undefined ? undefined : this.#work.elsewhere(trace));
    if (span === undefined) return;
    span.setAttributes({ 'sluice.index': index });
    this.#work.record(span, 'apply', { 'sluice.index': index }, fromMs, untilMs);
    this.#work.setOrigin(index, span);
  }

  #forget(span: WorkSpan): void {
    const key = this.#requests.get(span);
    this.#requests.delete(span);
    if (key !== undefined && this.#byRequest.get(key) === span) this.#byRequest.delete(key);
  }
}

const keyOf = ({ origin, incarnation, boot, seq }: RequestId): string => [origin, incarnation, boot, seq].join('-');

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'failed';
