// The replicated state in the simulator: registers, and a hash over everything that was ever applied.
import type { CommandEntry, Index, Term } from '../../core/types.ts';

/** A command is the number of its operation: four bytes, big-endian, then padding. */
export function encodeOp(op: number, size: number): Uint8Array {
  const payload = new Uint8Array(Math.max(4, size));
  payload[0] = op >>> 24;
  payload[1] = op >>> 16;
  payload[2] = op >>> 8;
  payload[3] = op;
  return payload;
}

export function decodeOp(payload: Uint8Array): number {
  return ((payload[0]! << 24) | (payload[1]! << 16) | (payload[2]! << 8) | payload[3]!) >>> 0;
}

export function mix(hash: number, value: number): number {
  let h = Math.imul(hash ^ value, 0x9e3779b1);
  h ^= h >>> 15;
  return (Math.imul(h, 0x85ebca77) ^ Math.floor(value / 0x1_0000_0000)) >>> 0;
}

/** Writes to this register are activations: what proxies show. */
export const activationRegister = 0;

/** Position and operation of the newest activation; 0 before the first. */
export interface Activation {
  readonly index: Index;
  readonly op: number;
}

export const noActivation: Activation = { index: 0, op: 0 };

export interface MachineState {
  applied: Index;
  term: Term;
  time: number;
  hash: number;
  /** Register → the operation that wrote it last. */
  readonly registers: Map<number, number>;
  activation: Activation;
}

export function emptyState(): MachineState {
  return { applied: 0, term: 0, time: 0, hash: 0, registers: new Map(), activation: noActivation };
}

export function copyState(state: MachineState): MachineState {
  return { ...state, registers: new Map(state.registers) };
}

export function applyCommand(state: MachineState, { index, payload }: CommandEntry, register: number): void {
  const op = decodeOp(payload);
  state.hash = mix(mix(state.hash, index), op);
  state.registers.set(register, op);
  if (register === activationRegister) state.activation = { index, op };
}

/** Returns the digest of all registers together, independent of the order in which they were written. */
export function digestOf(registers: ReadonlyMap<number, number>): number {
  return [...registers].reduce((sum, [register, op]) => sum + digestOne(register, op), 0);
}

export function digestOne(register: number, op: number): number {
  return mix(mix(0, register), op);
}
