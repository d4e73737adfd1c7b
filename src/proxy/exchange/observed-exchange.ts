// Observed exchange: the facts of one exchange that middlewares, logs, traces and metrics read, and what it reports to
// the observer of its listener.
import type { ProxyErrorType } from '../../errors.ts';
import type { Clock } from '../../util/clock.ts';
import { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import { currentRead } from '../socket/read-clock.ts';
import type { ExchangeTrace } from '../tracing/exchange-trace.ts';
import type { Downstream } from './downstream.ts';
import type { ExchangeEntry } from './entry.ts';
import type { ExchangeContext, ExchangeObserver, Installed } from './exchange-context.ts';
import { Messages } from './messages.ts';
import type { Tally } from './phase.ts';
import type { Verdict } from './verdict.ts';
import { reportVerdict } from './verdict-report.ts';

const noSnapshot = { index: 0, id: '', name: '' };
const nowhere = { id: '', name: '' };

export abstract class ObservedExchange extends Messages {
  readonly context: ExchangeContext;
  startedMs = 0;
  destinationId = '';
  endpoint = '';
  attempts = 0;
  attemptMs = 0;
  connectMs = -1;
  upstreamMs = -1;
  error: ProxyErrorType | '' = '';
  aborted = false;
  abortReason: ProxyErrorType | '' = '';
  trace: ExchangeTrace | undefined;
  /** Configuration that it began with. */
  installed: Installed | undefined;
  entry: ExchangeEntry | undefined;
  observer: ExchangeObserver | undefined;
  /** True when a request was read and `request` holds its head. */
  wasRead = false;
  #choseEndpoint = false;
  /** Read whose time was taken last, and that time. */
  #timedRead = 0;
  #readMs = 0;

  constructor(downstream: Downstream, context: ExchangeContext) {
    super(downstream);
    this.context = context;
  }

  get clock(): Clock {
    return this.context.clock;
  }

  get nowMs(): number {
    const read = currentRead();
    if (read !== 0 && read === this.#timedRead) return this.#readMs;
    this.#timedRead = read;
    this.#readMs = this.context.clock.monotonicMs();
    return this.#readMs;
  }

  get route(): { readonly id: string; readonly name: string } {
    return this.entry?.route ?? nowhere;
  }

  get group(): { readonly id: string; readonly name: string } | undefined {
    return this.entry?.group;
  }

  get snapshot(): { readonly index: number; readonly id: string; readonly name: string } {
    return this.installed?.snapshot ?? noSnapshot;
  }

  get consumers(): ConsumerDirectory {
    return this.installed?.consumers ?? ConsumerDirectory.none;
  }

  get role(): 'stable' | 'candidate' {
    return this.installed?.role ?? 'stable';
  }

  tally(slot: number, count: Tally, value: string, by: number): void {
    const link = this.entry?.links[slot];
    if (link !== undefined) this.observer?.onTally(link, count, value, by);
  }

  onEndpoint(destinationId: string, endpoint: string): void {
    this.endpoint = endpoint;
    if (this.#choseEndpoint) return;
    this.#choseEndpoint = true;
    this.observer?.onEndpoint(destinationId);
  }

  onRetry(n: number): void {
    if (this.entry !== undefined) this.observer?.onRetry(this.entry, n);
  }

  onNothingSent(): void {
    if (!this.#choseEndpoint) return;
    this.#choseEndpoint = false;
    this.endpoint = '';
    this.observer?.onNoEndpoint(this.destinationId);
  }

  copyCounter(destinationId: string): (() => void) | undefined {
    const { entry, observer } = this;
    return entry && observer && (() => observer.onMirror(entry, destinationId));
  }

  verdictReporter(destinationId: string): (verdict: Verdict) => void {
    return reportVerdict(this, destinationId);
  }

  /** Clears the facts when the exchange is over. */
  protected clearFacts(): void {
    this.destinationId = '';
    this.endpoint = '';
    this.attempts = 0;
    this.connectMs = -1;
    this.upstreamMs = -1;
    this.error = '';
    this.aborted = false;
    this.abortReason = '';
    this.trace = undefined;
    this.installed = undefined;
    this.entry = undefined;
    this.observer = undefined;
    this.wasRead = false;
    this.#choseEndpoint = false;
  }
}
