// Addresses of upstream names (architecture.md §2): asked of the system, hosts file and search domains included,
// remembered, and refreshed in the background: when a name is asked for, and by itself while connections to it are
// open. While no name server answers, the last addresses stay in use. At most four questions are under way, for each
// holds a thread of the pool that the store's fsync needs as well.
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Cancel, Clock } from '../../util/clock.ts';

const freshMs = 5_000;
const keptMs = 60_000;
const askingMax = 4;
/** Maximum number of followed names that are looked up again in a second. */
const followedPerSecond = 50;

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
export type SystemLookup = (name: string, answer: Answer) => void;

/** Receives each answer, changed or not. */
export type NameFollower = (addresses: readonly LookupAddress[]) => void;

interface Known {
  addresses: LookupAddress[];
  askedMs: number;
  waiting: Answer[] | undefined;
}

interface Followed {
  readonly followers: Set<NameFollower>;
  cancel: Cancel;
}

const askSystem: SystemLookup = (name, answer) => systemLookup(name, { all: true, order: 'verbatim' }, answer);

export class NameLookup {
  readonly #clock: Clock;
  readonly #query: SystemLookup;
  readonly #known = new Map<string, Known>();
  readonly #followed = new Map<string, Followed>();
  readonly #queue: (() => void)[] = [];
  #asking = 0;

  constructor(clock: Clock, ask: SystemLookup = askSystem) {
    this.#clock = clock;
    this.#query = ask;
  }

  /** In the shape that `net.connect` takes. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    this.#find(name, (error, addresses) => {
      const fitting = addresses.filter(({ family }) => !options.family || options.family === family);
      const [first] = fitting;
      if (error !== null || first === undefined) callback(error ?? notFound(name), '', 0);
      else if (options.all === true) callback(null, fitting);
      else callback(null, first.address, first.family);
    });
  };

  /** The name is asked for again and again until the caller stops it by what this returns. */
  follow(name: string, follower: NameFollower): Cancel {
    const followed = this.#followed.get(name) ?? { followers: new Set(), cancel: () => {} };
    followed.followers.add(follower);
    if (!this.#followed.has(name)) {
      this.#followed.set(name, followed);
      this.#refreshLater(name, followed);
    }
    return () => {
      followed.followers.delete(follower);
      if (followed.followers.size > 0) return;
      followed.cancel();
      this.#followed.delete(name);
    };
  }

  #refreshLater(name: string, followed: Followed): void {
    const waitMs = Math.max(freshMs, (this.#followed.size * 1_000) / followedPerSecond);
    followed.cancel = this.#clock.after(waitMs, () => {
      const known = this.#known.get(name) ?? { addresses: [], askedMs: this.#clock.monotonicMs(), waiting: undefined };
      this.#known.set(name, known);
      if (known.waiting === undefined) this.#refresh(name, known, []);
      this.#refreshLater(name, followed);
    });
  }

  #find(name: string, answer: Answer): void {
    const now = this.#clock.monotonicMs();
    const known = this.#known.get(name);
    if (known !== undefined && known.addresses.length > 0 && now - known.askedMs < keptMs) {
      if (now - known.askedMs > freshMs && known.waiting === undefined) this.#refresh(name, known, []);
      // As the system would: never before the caller has returned.
      queueMicrotask(() => answer(null, known.addresses));
      return;
    }
    const entry = known ?? { addresses: [], askedMs: now, waiting: undefined };
    this.#known.set(name, entry);
    if (entry.waiting === undefined) this.#refresh(name, entry, [answer]);
    else entry.waiting.push(answer);
  }

  #refresh(name: string, entry: Known, waiting: Answer[]): void {
    entry.waiting = waiting;
    this.#whenFree(() => {
      this.#query(name, (error, found) => {
        entry.waiting = undefined;
        const lastsOn = error !== null && error.code !== noSuchName && entry.addresses.length > 0;
        const failure = lastsOn ? null : error;
        const addresses = lastsOn ? entry.addresses : (found ?? []);
        if (failure === null) {
          entry.addresses = addresses;
          entry.askedMs = this.#clock.monotonicMs();
        } else if (waiting.length > 0) this.#known.delete(name);
        this.#asking--;
        this.#queue.shift()?.();
        for (const answer of waiting) answer(failure, addresses);
        // A name without an address for a moment does not invalidate those that it had.
        if (error === null && addresses.length > 0) {
          for (const follower of [...(this.#followed.get(name)?.followers ?? [])]) follower(addresses);
        }
      });
    });
  }

  #whenFree(ask: () => void): void {
    const run = (): void => {
      this.#asking++;
      ask();
    };
    if (this.#asking < askingMax) run();
    else this.#queue.push(run);
  }
}

/** Answer of the system that a name has no address; every other error says nothing about the name. */
const noSuchName = 'ENOTFOUND';

const notFound = (name: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${name} has no address`), { code: noSuchName });
