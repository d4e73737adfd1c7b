// Acknowledgements inform the control plane of configurations that this proxy has installed or refused, and every ten
// seconds of its traffic (fleet.md §4). The newest one counts: one that could not be delivered is replaced by the
// present state.

import type { ListenerReport } from '../model/answers/proxy-messages.ts';
import { type Acknowledgement } from '../model/fleet-messages.ts';
import { messageLimits } from '../model/message-limits.ts';
import { type Problem, problemsMax } from '../model/problem.ts';
import { withoutSecrets } from '../model/secret-problems.ts';
import type { PendingTraffic } from '../model/traffic-report.ts';
import type { PendingReport } from '../model/traffic-windows.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { CandidateStatus } from './remote-candidates.ts';
import type { Arrival, LogPlace, OpenStream } from './remote-source.ts';

export interface AcknowledgementsOptions {
  readonly link: Pick<ControlPlaneLink, 'post'>;
  readonly boot: string;
  readonly listeners: () => readonly ListenerReport[];
  readonly traffic: () => PendingReport;
  /** Traffic by route and destination since the last call. */
  readonly subjects: () => PendingTraffic;
  /** A candidate is served beside the other. */
  readonly isTrying: () => boolean;
  /** A report has been accepted. */
  readonly onContact: () => void;
  /** The stream is unknown there: it must be opened anew. */
  readonly onUnknownStream: (reason: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const againMs = 1_000;
const reportEveryMs = 10_000;
/** While a candidate is served. */
const candidateReportMs = 1_000;

type LatestAcknowledgement = Omit<Acknowledgement, 'listeners'>;
type Settling = Pick<Arrival, 'place' | 'sha256' | 'problems' | 'secrets'>;

export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  #stream: OpenStream | undefined;
  /** Latest acknowledgement of each kind, sent or due; the listeners are looked up when it is sent. */
  readonly #latest = new Map<LatestAcknowledgement['of'], LatestAcknowledgement>();
  readonly #due = new Set<LatestAcknowledgement['of']>();
  #isSending = false;
  #isReporting = false;
  #sentListeners = '';
  #cancelAgain: Cancel = () => {};
  #cancelReport: Cancel = () => {};

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  opened(stream: OpenStream): void {
    this.#stream = stream.token === undefined ? undefined : stream;
    this.#due.clear();
    if (this.#stream !== undefined) this.#scheduleReport();
  }

  closed(): void {
    this.#stream = undefined;
    this.#cancelAgain();
    this.#cancelReport();
  }

  /**
   * Acknowledges a configuration: it is live, but for parts that its problems name; or it is not, and they give the
   * reasons.
   */
  settled({ place, sha256, problems, secrets }: Settling, outcome: Settled): void {
    const { isLive, tookMs } = outcome;
    if (this.#stream !== undefined && place !== undefined && place.clusterId !== this.#stream.clusterId) return;
    const why = withoutSecrets(problems.slice(0, problemsMax), secrets);
    const state = isLive ? 'installed' : 'refused';
    this.#post({ index: place?.index ?? 0, sha256, of: 'stable', state, tookMs: Math.round(tookMs), problems: why });
  }

  /** The same of a candidate. */
  tried({ index, sha256, isLive, problems, secrets, tookMs }: CandidateStatus): void {
    const why = withoutSecrets(problems.slice(0, problemsMax), secrets);
    const state = isLive ? 'installed' : 'refused';
    this.#post({ index, sha256, of: 'candidate', state, tookMs: Math.round(tookMs), problems: why });
    if (this.#stream !== undefined) this.#scheduleReport();
  }

  unusable(problems: readonly Problem[], place: LogPlace | undefined): void {
    this.#post({ index: place?.index ?? 0, sha256: '', of: 'stable', state: 'refused', tookMs: 0, problems });
  }

  #post(word: LatestAcknowledgement): void {
    this.#latest.set(word.of, word);
    this.#due.add(word.of);
    void this.#send();
  }

  async #send(): Promise<void> {
    for (const side of ['stable', 'candidate'] as const) {
      while (this.#due.has(side) && !this.#isSending && this.#stream !== undefined) {
        await this.#sendOne(side, this.#stream);
      }
    }
    if (this.#due.size > 0 && !this.#isSending && this.#stream !== undefined) void this.#send();
  }

  async #sendOne(side: LatestAcknowledgement['of'], stream: OpenStream): Promise<void> {
    const listeners = listenersToSend(this.#options.listeners());
    this.#isSending = true;
    this.#due.delete(side);
    const body = { token: stream.token, boot: this.#options.boot, ...this.#latest.get(side), listeners };
    const outcome = await this.#options.link.post(stream.url, '/api/v1/sync/ack', body);
    this.#isSending = false;
    if (outcome === 204) this.#sentListeners = JSON.stringify(listeners);
    else this.#failed(side, stream, outcome);
  }

  #failed(side: LatestAcknowledgement['of'], stream: OpenStream, outcome: number | string): void {
    if (this.#stream !== stream) return;
    if (outcome === 409) {
      this.#options.onUnknownStream('the control plane does not know this stream');
      return;
    }
    this.#options.logger.debug({ outcome }, 'an acknowledgement is not accepted and sent again');
    const due = new Set([...this.#due, side]);
    this.#due.clear();
    this.#cancelAgain();
    this.#cancelAgain = this.#options.clock.after(againMs, () => {
      for (const each of due) this.#due.add(each);
      void this.#send();
    });
  }

  #scheduleReport(): void {
    this.#cancelReport();
    this.#cancelReport = this.#options.clock.after(
      this.#options.isTrying() ? candidateReportMs : reportEveryMs,
      () => void this.#report(),
    );
  }

  /** Sends reports one after the other: the next one has the content of a lost one. */
  async #report(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined || this.#isReporting) return;
    if (
      this.#latest.has('stable') &&
      JSON.stringify(listenersToSend(this.#options.listeners())) !== this.#sentListeners
    ) {
      this.#due.add('stable');
      void this.#send();
    }
    const { window, delivered } = this.#options.traffic();
    const subjects = this.#options.subjects();
    const body = { token: stream.token, boot: this.#options.boot, window, traffic: subjects.traffic };
    this.#isReporting = true;
    const outcome = await this.#options.link.post(stream.url, '/api/v1/sync/report', body);
    this.#isReporting = false;
    if (outcome === 204) {
      delivered();
      subjects.delivered();
      this.#options.onContact();
    }
    if (this.#stream === stream && outcome === 409) {
      this.#options.onUnknownStream('the control plane does not know this stream');
    } else if (this.#stream !== undefined) this.#scheduleReport();
  }
}

/**
 * Listeners for one message, which takes only so many: open ones give way to those that an operator has to look after.
 */
function listenersToSend(listeners: readonly ListenerReport[]): readonly ListenerReport[] {
  if (listeners.length <= messageLimits.listeners) return listeners;
  const isOpen = ({ state }: ListenerReport): boolean => state === 'open';
  const closed = listeners.filter((listener) => !isOpen(listener));
  return [...closed, ...listeners.filter(isOpen)].slice(0, messageLimits.listeners);
}

interface Settled {
  readonly isLive: boolean;
  readonly tookMs: number;
}
