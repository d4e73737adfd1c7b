// The `grpc-timeout` field and the cap that a route may put on it (contract.md §7.13).

import { isGrpc } from '../message/grpc.ts';
import type { ExchangeRequest } from '../message/request.ts';

/** Nanoseconds per unit. */
const units: Readonly<Record<string, number>> = {
  H: 3_600e9,
  M: 60e9,
  S: 1e9,
  m: 1e6,
  u: 1e3,
  n: 1,
};

/** Milliseconds, or undefined when the text is not 1–8 digits and a unit. */
export function parseGrpcTimeout(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const scale = units[unit];
  return digits === undefined || scale === undefined ? undefined : (Number(digits) * scale) / 1e6;
}

/** The cap as a value of the field: in milliseconds, in microseconds below one, coarser where 8 digits are too few. */
export function renderGrpcTimeout(ms: number): string {
  if (ms < 1) return `${Math.floor(ms * 1e3)}u`;
  for (const [unit, scale] of coarser) {
    const value = Math.floor(ms / scale);
    if (value <= 99_999_999) return `${value}${unit}`;
  }
  return '99999999H';
}

/** Tolerance: services use their own clocks, in whole milliseconds. */
const clocksDifferMs = 1;

/**
 * Returns whether a gRPC caller that came `elapsedMs` ago has reached its deadline. Its service stops then too, with a bare reset
 * (CANCEL) without a deadline status, which may arrive before the caller's own.
 * @param capMs upper limit of the deadline sent to the service; 0 = no cap.
 */
export function deadlinePassed(request: ExchangeRequest, capMs: number, elapsedMs: number): boolean {
  const asked = request.header('grpc-timeout');
  if (asked === undefined || !isGrpc(request)) return false;
  const ms = parseGrpcTimeout(asked);
  return ms !== undefined && elapsedMs + clocksDifferMs >= (capMs > 0 ? Math.min(ms, capMs) : ms);
}

const coarser: readonly (readonly [unit: string, ms: number])[] = [
  ['m', 1],
  ['S', 1e3],
  ['M', 60e3],
  ['H', 3_600e3],
];
