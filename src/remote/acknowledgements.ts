// Tells the control plane what this proxy has installed or refused, and every ten seconds what its traffic was like
// (fleet.md §4). The newest word counts: one that could not be delivered is replaced by what is true now.
import type { Cancel, Clock } from '../clock.ts';
import type { Acknowledgement, ListenerReport } from '../model/fleet-messages.ts';
import { type Problem, problemsMax } from '../model/problem.ts';
import { withoutSecrets } from '../model/secret-problems.ts';
import type { PendingReport } from '../model/traffic-windows.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { Arrival, LogPlace, OpenStream } from './remote-source.ts';

export interface AcknowledgementsOptions {
  readonly link: Pick<ControlPlaneLink, 'post'>;
  readonly boot: string;
  readonly listeners: () => readonly ListenerReport[];
  readonly traffic: () => PendingReport;
  /** The stream is unknown there: it must be opened anew. */
  readonly onUnknownStream: (reason: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const againMs = 1_000;
const reportEveryMs = 10_000;

type Word = Omit<Acknowledgement, 'listeners'>;
type Settling = Pick<Arrival, 'place' | 'sha256' | 'problems' | 'secrets'>;

export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  #stream: OpenStream | undefined;
  /** What was said last or is to be said; the listeners are looked up when it is sent. */
  #word: Word | undefined;
  #isDue = false;
  #isSending = false;
  #saidListeners = '';
  #cancelAgain: Cancel = () => {};
  #cancelReport: Cancel = () => {};

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  opened(stream: OpenStream): void {
    this.#stream = stream.token === undefined ? undefined : stream;
    this.#isDue = false;
    if (this.#stream !== undefined) this.#scheduleReport();
  }

  closed(): void {
    this.#stream = undefined;
    this.#cancelAgain();
    this.#cancelReport();
  }

  /** It is live, but for parts that its problems name; or it is not, and they say why. */
  settled({ place, sha256, problems, secrets }: Settling, outcome: Settled): void {
    const { isLive, tookMs } = outcome;
    if (this.#stream !== undefined && place !== undefined && place.clusterId !== this.#stream.clusterId) return;
    const why = withoutSecrets(problems.slice(0, problemsMax), secrets);
    const state = isLive ? 'installed' : 'refused';
    this.#say({ index: place?.index ?? 0, sha256, of: 'stable', state, tookMs: Math.round(tookMs), problems: why });
  }

  unusable(problems: readonly Problem[], place: LogPlace | undefined): void {
    this.#say({ index: place?.index ?? 0, sha256: '', of: 'stable', state: 'refused', tookMs: 0, problems });
  }

  #say(word: Word): void {
    this.#word = word;
    this.#isDue = true;
    void this.#send();
  }

  async #send(): Promise<void> {
    while (this.#isDue && !this.#isSending && this.#stream !== undefined && this.#word !== undefined) {
      const stream = this.#stream;
      const listeners = this.#options.listeners();
      this.#isSending = true;
      this.#isDue = false;
      const body = { token: stream.token, boot: this.#options.boot, ...this.#word, listeners };
      const outcome = await this.#options.link.post(stream.url, '/api/v1/sync/ack', body);
      this.#isSending = false;
      if (outcome === 204) this.#saidListeners = JSON.stringify(listeners);
      else this.#failed(stream, outcome);
    }
  }

  #failed(stream: OpenStream, outcome: number | string): void {
    if (this.#stream !== stream) return;
    if (outcome === 409) {
      this.#options.onUnknownStream('the control plane does not know this stream');
      return;
    }
    this.#options.logger.debug({ outcome }, 'an acknowledgement is not accepted and sent again');
    const isDue = this.#isDue;
    this.#isDue = false;
    this.#cancelAgain();
    this.#cancelAgain = this.#options.clock.after(isDue ? 0 : againMs, () => {
      this.#isDue = true;
      void this.#send();
    });
  }

  #scheduleReport(): void {
    this.#cancelReport();
    this.#cancelReport = this.#options.clock.after(reportEveryMs, () => void this.#report());
  }

  async #report(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#scheduleReport();
    if (this.#word !== undefined && JSON.stringify(this.#options.listeners()) !== this.#saidListeners) {
      this.#isDue = true;
      void this.#send();
    }
    const { window, delivered } = this.#options.traffic();
    const body = { token: stream.token, boot: this.#options.boot, window };
    const outcome = await this.#options.link.post(stream.url, '/api/v1/sync/report', body);
    if (outcome === 204) delivered();
    else if (outcome === 409 && this.#stream === stream) {
      this.#options.onUnknownStream('the control plane does not know this stream');
    }
  }
}

interface Settled {
  readonly isLive: boolean;
  readonly tookMs: number;
}
