// Proxies that have what was written: `GET /fleet` is asked until every connected one has it, and now and then later.
import { reasonOf } from '../../telemetry/error-reason.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { Fleet, SluiceApi } from './sluice-api.ts';

export interface FleetWatchTools {
  readonly api: Pick<SluiceApi, 'fleet'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onProgress: () => void;
}

interface Expectation {
  readonly sequence: number;
  /** Index of the activation. */
  readonly index: number;
}

const askMsMin = 50;
const askMsMax = 1_000;
/** Wait while there is nothing to wait for: listeners may fail and proxies come. */
const idleMs = 10_000;

export class FleetWatch {
  readonly #tools: FleetWatchTools;
  #expected: Expectation[] = [];
  #installedUpTo = 0;
  #waitMs = askMsMin;
  #cancel: Cancel = () => {};
  #isAsking = false;
  #isStopped = false;
  /** Listeners of Sluice that are not open somewhere, with the reason. */
  #closed: ReadonlyMap<string, string> = new Map();
  /** Problem of a proxy that refuses what is active. */
  refusal: string | undefined;

  constructor(tools: FleetWatchTools) {
    this.#tools = tools;
  }

  /** Waits until the activation with that index is everywhere. */
  expect(sequence: number, index: number): void {
    this.#expected.push({ sequence, index });
    this.#waitMs = askMsMin;
    this.#isStopped = false;
    this.#cancel();
    void this.#ask();
  }

  /** Nothing was to be written: what was there is enough. */
  noteUnchanged(sequence: number): void {
    if (this.#expected.length === 0) this.#installedUpTo = sequence;
    else this.#expected.push({ sequence, index: this.#expected.at(-1)?.index ?? 0 });
  }

  isInstalled(sequence: number): boolean {
    return sequence <= this.#installedUpTo;
  }

  /** Returns the reason why a listener is not open on every proxy; undefined: it is. */
  closedReason(listenerId: string): string | undefined {
    return this.#closed.get(listenerId);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#expected = [];
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.#isStopped) return;
    this.#isAsking = true;
    try {
      this.#take(await this.#tools.api.fleet());
    } catch (error) {
      this.#tools.logger.debug({ reason: reasonOf(error) }, 'the fleet cannot be asked');
    } finally {
      this.#isAsking = false;
    }
    if (this.#isStopped) return;
    const waitMs = this.#expected.length > 0 ? this.#waitMs : idleMs;
    this.#waitMs = Math.min(askMsMax, this.#waitMs * 1.5);
    this.#cancel();
    this.#cancel = this.#tools.clock.after(waitMs, () => void this.#ask());
  }

  #take({ proxies }: Fleet): void {
    const connected = proxies.filter(({ state }) => state !== 'disconnected');
    const before = JSON.stringify([this.#installedUpTo, [...this.#closed], this.refusal]);
    const least = Math.min(...connected.map(({ installed }) => installed?.index ?? 0));
    if (connected.length > 0) {
      const done = this.#expected.filter(({ index }) => index <= least);
      this.#installedUpTo = Math.max(this.#installedUpTo, ...done.map(({ sequence }) => sequence));
      this.#expected = this.#expected.filter(({ index }) => index > least);
    }
    this.#closed = new Map(
      connected.flatMap(({ listeners = [] }) =>
        listeners.flatMap(({ id, state, reason }) =>
          state === 'open' ? [] : [[id, reason ?? `its state is ${state}`] as const],
        ),
      ),
    );
    const refusing = connected.find(({ state }) => state === 'refused');
    this.refusal =
      refusing && `proxy ${refusing.id} refuses it: ${refusing.problems?.[0]?.message ?? 'unknown reason'}`;
    if (JSON.stringify([this.#installedUpTo, [...this.#closed], this.refusal]) !== before) this.#tools.onProgress();
  }
}
