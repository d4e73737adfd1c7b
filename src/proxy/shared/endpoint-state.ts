// State of one endpoint of one destination that the threads of a process share.
import type { RowShape, SharedRow } from './shared-rows.ts';

const inFlight = 0;
const unhealthy = 1;
const ejected = 2;
const ejections = 3;
const serverErrors = 4;
const gatewayErrors = 5;
const drained = 6;
const ejectedUntil = 0;

export const endpointShape: RowShape = { counters: 1, plain: 6, times: 1 };

export class EndpointState {
  readonly #row: SharedRow;

  constructor(row: SharedRow) {
    this.#row = row;
  }

  /** Attempts that were sent there and are not over. */
  get inFlight(): number {
    return this.#row.held(inFlight);
  }

  enter(): void {
    this.#row.hold(inFlight, 0x7fff_ffff);
  }

  leave(): void {
    this.#row.release(inFlight);
  }

  /** Neither failed by its health check, nor ejected, nor drained. */
  get available(): boolean {
    return this.#row.load(unhealthy) === 0 && this.#row.load(ejected) === 0 && this.#row.load(drained) === 0;
  }

  /** An operator wants it to get no new requests. */
  get drained(): boolean {
    return this.#row.load(drained) === 1;
  }

  set drained(yes: boolean) {
    this.#row.store(drained, yes ? 1 : 0);
  }

  get healthy(): boolean {
    return this.#row.load(unhealthy) === 0;
  }

  set healthy(yes: boolean) {
    this.#row.store(unhealthy, yes ? 0 : 1);
  }

  get ejected(): boolean {
    return this.#row.load(ejected) === 1;
  }

  set ejected(yes: boolean) {
    this.#row.store(ejected, yes ? 1 : 0);
  }

  /** Number of times it has been ejected. */
  get ejections(): number {
    return this.#row.load(ejections);
  }

  /** The new number. */
  addEjection(): number {
    return this.#row.add(ejections, 1);
  }

  get ejectedUntilMs(): number {
    return this.#row.time(ejectedUntil);
  }

  set ejectedUntilMs(ms: number) {
    this.#row.setTime(ejectedUntil, ms);
  }

  /** Responses of 500 and more in a row, and how many of 502, 503 and 504 since the last one below 500. */
  get serverErrors(): number {
    return this.#row.load(serverErrors);
  }

  get gatewayErrors(): number {
    return this.#row.load(gatewayErrors);
  }

  /** The new number. */
  addServerError(): number {
    return this.#row.add(serverErrors, 1);
  }

  addGatewayError(): number {
    return this.#row.add(gatewayErrors, 1);
  }

  forgiveErrors(): void {
    if (this.#row.load(serverErrors) !== 0) this.#row.store(serverErrors, 0);
    if (this.#row.load(gatewayErrors) !== 0) this.#row.store(gatewayErrors, 0);
  }

  forget(place: number): void {
    this.#row.forget(place);
  }
}
