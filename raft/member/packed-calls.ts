// Calls that come in runs, one for each client, on their way between the main thread and the raft thread: proposals of one
// turn cross as one piece of memory, the outcomes of those that are committed as one row of numbers. As calls of their own
// each would cost both threads more than what it carries, and its bytes an allocation in the log for as long as that holds
// them.
import { newSharedBytes, sharedBytesMin } from '../codec/shared-bytes.ts';
import type { Outcome } from '../driver/driver-host.ts';
import type { Call } from './bridge.ts';

const proposals = 'proposals';
const agreed = 'agreed';

/**
 * The same calls in the same order, runs of proposals and of committed outcomes as one each. Payloads are copied. A long one
 * crosses by itself, and once: it must not stay in memory for the sake of short ones, and comes back when it is committed.
 */
export function packCalls(calls: readonly Call[]): readonly Call[] {
  const packed: Call[] = [];
  for (let at = 0; at < calls.length; ) {
    const end = endOfRun(calls, at);
    const first = calls[at]!;
    if (isAgreed(first)) packed.push(packAgreed(calls, at, end));
    else if (!isProposal(first)) packed.push(first);
    else if (isLong(first)) packed.push(['propose', first[1], sharedCopy(first[2])]);
    else packed.push(packProposals(calls, at, end));
    at = end;
  }
  return packed;
}

/** Calls `invoke` with each call that `packCalls` was given. Payloads of one run are views of one piece of memory. */
export function unpackCall(call: Call, invoke: (call: Call) => void): void {
  const [name] = call;
  if (name === proposals) unpackProposals(call, invoke);
  else if (name === agreed) unpackAgreed(call, invoke);
  else invoke(call);
}

type ProposeCall = readonly [name: 'propose', id: number, payload: Uint8Array];
type Agreed = readonly [name: 'outcome', id: number, outcome: Extract<Outcome, { kind: 'committed' }>];

const isProposal = (call: Call | undefined): call is ProposeCall => call?.[0] === 'propose';

const isLong = ([, , payload]: ProposeCall): boolean => payload.length >= sharedBytesMin;

function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = newSharedBytes(bytes.length);
  copy.set(bytes);
  return copy;
}

const isAgreed = (call: Call | undefined): call is Agreed =>
  call?.[0] === 'outcome' && (call[2] as Outcome).kind === 'committed';

/** One behind the last call from `from` on that is of the same sort. */
function endOfRun(calls: readonly Call[], from: number): number {
  const first = calls[from];
  let end = from + 1;
  if (isAgreed(first)) while (isAgreed(calls[end])) end += 1;
  if (isProposal(first) && !isLong(first))
    for (let next = calls[end]; isProposal(next) && !isLong(next); next = calls[end]) end += 1;
  return end;
}

/** Packs proposals: the id of each, and the end of its payload. */
function packProposals(calls: readonly Call[], from: number, to: number): Call {
  const heads = new Float64Array(2 * (to - from));
  let end = 0;
  for (let at = from; at < to; at++) {
    const [, id, payload] = calls[at] as ProposeCall;
    end += payload.length;
    heads[2 * (at - from)] = id;
    heads[2 * (at - from) + 1] = end;
  }
  const payloads = new Uint8Array(end);
  for (let at = from; at < to; at++) {
    const [, , payload] = calls[at] as ProposeCall;
    payloads.set(payload, heads[2 * (at - from) + 1]! - payload.length);
  }
  return [proposals, heads, payloads];
}

function unpackProposals([, heads, payloads]: Call, invoke: (call: Call) => void): void {
  const numbers = heads as Float64Array;
  const bytes = payloads as Uint8Array;
  let start = 0;
  for (let at = 0; at < numbers.length; at += 2) {
    const end = numbers[at + 1]!;
    invoke(['propose', numbers[at]!, bytes.subarray(start, end)]);
    start = end;
  }
}

/** Packs agreed reads: the id and the index of each. */
function packAgreed(calls: readonly Call[], from: number, to: number): Call {
  const numbers = new Float64Array(2 * (to - from));
  for (let at = from; at < to; at++) {
    const [, id, { index }] = calls[at] as Agreed;
    numbers[2 * (at - from)] = id;
    numbers[2 * (at - from) + 1] = index;
  }
  return [agreed, numbers];
}

function unpackAgreed([, numbers]: Call, invoke: (call: Call) => void): void {
  const pairs = numbers as Float64Array;
  for (let at = 0; at < pairs.length; at += 2) {
    invoke(['outcome', pairs[at]!, { kind: 'committed', index: pairs[at + 1]! } satisfies Outcome]);
  }
}
