// Keys of signed session cookies (contract.md §7.7): the first is made when a snapshot asks for signed cookies, further
// ones at an interval. A cluster without such a snapshot has none.
import { randomBytes, randomUUID } from 'node:crypto';
import { cookieKeyBytes, cookieKeyRotationMs } from '../model/cookie-keys.ts';
import type { Draft } from '../state/command.ts';
import type { StateView, Stored, StoredSnapshot } from '../state/view.ts';
import type { LeaderController } from './leader-controllers.ts';

type Seen = Pick<StateView, 'cookieKeys' | 'snapshots'>;

/** Entities that one look reads. */
const readMax = 5_000;

export class CookieKeyController implements LeaderController {
  readonly name = 'a key of signed cookies';
  readonly #read = new WeakSet<StoredSnapshot>();
  /** Snapshot that is being read, and the entities of it that are left. */
  #reading: { readonly snapshot: StoredSnapshot; readonly left: Iterator<Stored> } | undefined;

  due(view: Seen, nowMs: number): Draft | undefined {
    const { index, keys } = view.cookieKeys;
    const newest = keys[0];
    const isDue = newest === undefined ? this.#isWanted(view) : nowMs - newest.madeAt >= cookieKeyRotationMs;
    return isDue ? nextCookieKey(index) : undefined;
  }

  /** Returns whether a snapshot asks for signed cookies. Reads a part of one at each look, the newest first. */
  #isWanted(view: Seen): boolean {
    const snapshots = view.snapshots();
    if (this.#reading !== undefined && !snapshots.includes(this.#reading.snapshot)) this.#reading = undefined;
    const snapshot = this.#reading?.snapshot ?? snapshots.findLast((each) => !this.#read.has(each));
    if (snapshot === undefined) return false;
    const left = this.#reading?.left ?? entitiesOf(snapshot);
    this.#reading = { snapshot, left };
    for (let count = 0; count < readMax; count++) {
      const { done, value } = left.next();
      if (done === true) {
        this.#reading = undefined;
        this.#read.add(snapshot);
        return false;
      }
      if (asksForSigned(value)) {
        this.#reading = undefined;
        return true;
      }
    }
    return false;
  }
}

/** Another key; `after`: index of the keys that there are. */
export const nextCookieKey = (after: number): Draft & { readonly op: 'cookieKey' } => ({
  op: 'cookieKey',
  id: randomUUID(),
  key: randomBytes(cookieKeyBytes).toString('base64'),
  after,
});

/** An equal text elsewhere in an entity costs a key that is not used. */
const asksForSigned = ({ json }: Stored): boolean => json.includes('"signed":true');

function* entitiesOf({ entities }: StoredSnapshot): Generator<Stored, undefined> {
  yield* entities.destinations;
  yield* entities.routes;
  return undefined;
}
