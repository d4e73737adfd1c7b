// State of one destination that the threads of a process share: requests under way, its circuit, and a number that
// changes whenever the set of its available endpoints does.
import type { RowShape, SharedRow } from './shared-rows.ts';

const active = 0;
const retries = 1;
const waiting = 2;
const connections = 3;
const circuit = 4;
const failures = 5;
const probe = 6;
const lock = 7;
const ejected = 8;
const version = 9;
const lostCopies = 10;
const openUntil = 0;

export const destinationShape: RowShape = { counters: 4, plain: 7, times: 1 };

export const circuitClosed = 0;
export const circuitOpen = 1;
export const circuitHalfOpen = 2;

/** More than anything is counted to. */
export const unlimited = 0x7fff_ffff;

export class DestinationState {
  readonly #row: SharedRow;

  constructor(row: SharedRow) {
    this.#row = row;
  }

  /** Exchanges that were admitted and are not over. */
  get active(): number {
    return this.#row.held(active);
  }

  enter(max: number): boolean {
    return this.#row.hold(active, max);
  }

  leave(): void {
    this.#row.release(active);
  }

  get retries(): number {
    return this.#row.held(retries);
  }

  enterRetry(max: number): boolean {
    return this.#row.hold(retries, max);
  }

  leaveRetry(): void {
    this.#row.release(retries);
  }

  /** A request waits for a connection, unless so many do already. */
  enterQueue(max: number): boolean {
    return this.#row.hold(waiting, max);
  }

  leaveQueue(): void {
    this.#row.release(waiting);
  }

  get waiting(): number {
    return this.#row.held(waiting);
  }

  /** True when a request waits for a connection in another thread. */
  get waitedForElsewhere(): boolean {
    return this.#row.heldElsewhere(waiting);
  }

  openConnection(max: number): boolean {
    return this.#row.hold(connections, max);
  }

  closeConnection(): void {
    this.#row.release(connections);
  }

  get connections(): number {
    return this.#row.held(connections);
  }

  /** `circuitClosed`, `circuitOpen` or `circuitHalfOpen`. */
  get circuit(): number {
    return this.#row.load(circuit);
  }

  /** Changes the circuit from `from` to `to`; returns whether it was `from`. */
  turnCircuit(from: number, to: number): boolean {
    return this.#row.swap(circuit, from, to);
  }

  get openUntilMs(): number {
    return this.#row.time(openUntil);
  }

  set openUntilMs(ms: number) {
    this.#row.setTime(openUntil, ms);
  }

  get failures(): number {
    return this.#row.load(failures);
  }

  /** The new number. */
  addFailure(): number {
    return this.#row.add(failures, 1);
  }

  forgiveFailures(): void {
    if (this.#row.load(failures) !== 0) this.#row.store(failures, 0);
  }

  /** One request at a time asks whether the destination is well again. */
  takeProbe(): boolean {
    return this.#row.swap(probe, 0, this.#row.mark);
  }

  giveProbeBack(): void {
    this.#row.swap(probe, this.#row.mark, 0);
  }

  get probing(): boolean {
    return this.#row.load(probe) !== 0;
  }

  /** For the few changes that look at several endpoints at once. Held for microseconds. */
  tryLock(): boolean {
    for (let i = 0; i < spinsMax; i++) if (this.#row.swap(lock, 0, this.#row.mark)) return true;
    return false;
  }

  unlock(): void {
    this.#row.store(lock, 0);
  }

  /** Endpoints that are ejected; changed under the lock. */
  get ejected(): number {
    return this.#row.load(ejected);
  }

  set ejected(count: number) {
    this.#row.store(ejected, count);
  }

  /** Another number whenever an endpoint has become available or has ceased to be. */
  get version(): number {
    return this.#row.load(version);
  }

  touch(): void {
    this.#row.add(version, 1);
  }

  /** Mirrored requests that were given up because the destination did not keep up, since the process began. */
  get lostCopies(): number {
    return this.#row.load(lostCopies);
  }

  addLostCopy(): void {
    this.#row.add(lostCopies, 1);
  }

  /** The circuit as it is when nothing is known. Main only. */
  resetCircuit(): void {
    this.#row.store(circuit, circuitClosed);
    this.#row.store(failures, 0);
    this.#row.store(probe, 0);
  }

  /** The thread at `place` has crashed, with all it held. */
  forget(place: number): void {
    this.#row.forget(place);
    this.#row.swap(probe, place + 1, 0);
    this.#row.swap(lock, place + 1, 0);
  }
}

const spinsMax = 100_000;
