// Event streams of changes of the state (contract.md §3.6). A client gets names and ids and reads what it wants to know;
// one that reads slowly is cut off and resumes where it was.
import type { ServerResponse } from 'node:http';
import { SluiceError } from '../errors.ts';
import type { Cancel, Clock } from '../util/clock.ts';
import { beginEvents } from '../util/event-stream-head.ts';
import type { StateChange, StateChanges } from './state-changes.ts';

const keepAliveMs = 15_000;
/** Least time between two reports of what comes often: acknowledgements of proxies. */
const outsideMs = 1_000;
const streamsMax = 512;
/** Bytes that may wait for one client. */
const waitingMax = 1 << 20;
/** Characters of changes that a client is told at once when it comes back; of more it reads everything anew. */
const resumedMax = 256 * 1024;

export class ChangeStreams {
  readonly #changes: StateChanges;
  readonly #clock: Clock;
  readonly #responses = new Set<ServerResponse>();
  readonly #unsubscribe: () => void;
  /** Events that were written, and streams that were cut off for reading slowly, since the start. */
  readonly counts = { events: 0, dropped: 0 };
  #cancelKeepAlive: Cancel = () => undefined;
  #cancelOutside: Cancel | undefined;
  readonly #due = new Set<'members' | 'fleet'>();
  #closed = false;

  constructor(changes: StateChanges, clock: Clock) {
    this.#changes = changes;
    this.#clock = clock;
    this.#unsubscribe = changes.subscribe({
      changed: (list) => this.#sendAll(list.map(frameOf).join('')),
      reset: (index) => this.#sendAll(resetAt(index)),
    });
  }

  get size(): number {
    return this.#responses.size;
  }

  /** Throws UNAVAILABLE when there are too many streams. */
  admit(): void {
    if (this.#responses.size < streamsMax) return;
    throw new SluiceError('UNAVAILABLE', `${streamsMax} streams of events are open already`);
  }

  /**
   * Takes over a response without a head. `HEAD` gets the headers alone.
   * @param lastEventId of the stream before; undefined: the client begins.
   */
  attach(response: ServerResponse, lastEventId: string | undefined): void {
    // A read from this index on lacks no change that the stream does not tell.
    const revision = { 'X-Sluice-Revision': String(this.#changes.applied) };
    if (!beginEvents(response, this.#closed, revision)) return;
    response.write(': connected\n\n');
    if (lastEventId !== undefined && lastEventId !== '') this.#resume(response, lastEventId);
    this.#responses.add(response);
    if (this.#responses.size === 1) this.#scheduleKeepAlive();
    response.on('close', () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#cancelKeepAlive();
    });
  }

  /** Reports a change that is not in the log, soon: of many within a second one event is made. */
  outside(name: 'members' | 'fleet'): void {
    this.#due.add(name);
    if (this.#closed || this.#cancelOutside !== undefined || this.#responses.size === 0) return;
    this.#cancelOutside = this.#clock.after(outsideMs, () => {
      this.#cancelOutside = undefined;
      for (const each of this.#due) this.#changes.outside(each);
      this.#due.clear();
    });
  }

  /** Ends every stream and takes no more. May be called twice. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#cancelKeepAlive();
    this.#cancelOutside?.();
    for (const response of this.#responses) response.end();
  }

  /** Aborts streams that have not been read to their end. */
  destroy(): void {
    for (const response of this.#responses) response.destroy();
  }

  /** Members and fleet are in no log: what became of them meanwhile is not known, so that the client looks. */
  #resume(response: ServerResponse, lastEventId: string): void {
    const index = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
    const missed = this.#changes.after(index);
    const outside = (['members', 'fleet'] as const).map((name) => this.#changes.outsideChange(name));
    const frames = missed === undefined ? '' : [...missed, ...outside].map(frameOf).join('');
    const isKnown = missed !== undefined && frames.length <= resumedMax;
    this.#send(response, isKnown ? frames : resetAt(this.#changes.applied));
  }

  #sendAll(frames: string): void {
    for (const response of this.#responses) this.#send(response, frames);
  }

  #send(response: ServerResponse, frames: string): void {
    if (response.writableLength > waitingMax) {
      this.counts.dropped++;
      response.destroy();
      return;
    }
    this.counts.events++;
    response.write(frames);
  }

  #scheduleKeepAlive(): void {
    this.#cancelKeepAlive = this.#clock.after(keepAliveMs, () => {
      for (const response of this.#responses) if (!response.writableNeedDrain) response.write(': keepalive\n\n');
      this.#scheduleKeepAlive();
    });
  }
}

const frameOf = ({ name, index, data }: StateChange): string => `event: ${name}\nid: ${index}\ndata: ${data}\n\n`;

const resetAt = (index: number): string => `event: reset\nid: ${index}\ndata: {"index":${index}}\n\n`;
