// Server for writes that other members relay to this node (architecture.md §8). Requests of a member are checked like
// those of an unknown client: a credential, a size, a shape, and the schema of the resource, all before the log sees a
// byte.

import { SluiceError } from '../../errors.ts';
import type { RequestId } from '../../model/answers/member-messages.ts';
import type { EditableKind } from '../../model/kinds.ts';
import { classOf, parseInSteps } from '../../model/validation.ts';
import type { Command } from '../../state/command.ts';
import { CommandNotUnderstood, type Malformed } from '../../state/command-codec.ts';
import type { SpecText } from '../../state/spec-text.ts';
import { jsonOf } from '../../util/malformed-json.ts';
import { inSlices, runSliced } from '../../util/time-slice.ts';
import { writeDeadlineMs } from '../write-deadline.ts';
import { MemberGuard, type MemberGuardOptions, type MemberHead } from './member-guard.ts';
import {
  decodeEnvelope,
  decodeLargeEnvelope,
  decodeTogether,
  encodeAnswers,
  encodeApplied,
  type RelayEnvelope,
} from './relay-wire.ts';
import type { ReceivedOutcome, RelayTarget } from './relayed-write.ts';

export interface RelayServerOptions extends MemberGuardOptions {
  readonly target: RelayTarget;
  /** Undefined: this node belongs to no cluster yet. */
  readonly clusterId: () => string | undefined;
  /** The command in bytes of the log. Throws CommandNotUnderstood for one of a newer program. */
  readonly decode: (bytes: Uint8Array) => Command | Malformed;
}

export type RelayHead = MemberHead;

export interface RelayAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

export class RelayServer extends MemberGuard {
  readonly #options: RelayServerOptions;

  constructor(options: RelayServerOptions) {
    super(options);
    this.#options = options;
  }

  /** One write, or several that came together. Throws UNAUTHENTICATED, FORBIDDEN, INVALID; every other outcome is an answer. */
  async take(head: RelayHead, body: Uint8Array): Promise<RelayAnswer> {
    this.check(head, body);
    const value = jsonOf(body);
    const together = decodeTogether(value);
    if (together === undefined) return await this.#takeOne(decodeEnvelope(value));
    if (typeof together === 'string') throw new SluiceError('INVALID', together);
    const answers = await Promise.all(together.map((envelope) => this.#answerToOne(envelope)));
    return { status: 200, body: encodeAnswers(answers) };
  }

  /** The same for a command that travels as it is. */
  async takeLarge(head: RelayHead, body: Uint8Array): Promise<RelayAnswer> {
    this.check(head, body);
    return await this.#takeOne(decodeLargeEnvelope(body));
  }

  /** Answers one command of several: a refusal of it does not touch the others. */
  async #answerToOne(envelope: RelayEnvelope): Promise<RelayAnswer> {
    try {
      return await this.#takeOne(envelope);
    } catch (error) {
      if (error instanceof SluiceError) return json(error.status, { error: error.message });
      return json(500, { error: error instanceof Error ? error.message : String(error), outcome: 'unknown' });
    }
  }

  async #takeOne(envelope: RelayEnvelope | string): Promise<RelayAnswer> {
    if (typeof envelope === 'string') throw new SluiceError('INVALID', envelope);
    const decoded = await runSliced(envelope.command.length, this.#checked(envelope), inSlices);
    const { requestId, command } = envelope;
    const remainingMs = Math.min(envelope.remainingMs, writeDeadlineMs(decoded));
    return answerTo(await this.#options.target.receive({ requestId, command, decoded, remainingMs }));
  }

  *#checked({ clusterId, requestId, command }: RelayEnvelope): Generator<void, Command> {
    const own = this.#options.clusterId();
    if (own !== undefined && clusterId !== own) {
      throw new SluiceError('INVALID', `the write is for cluster ${clusterId}, this node is of cluster ${own}`);
    }
    const decoded = this.#decoded(command);
    if (decoded.op === 'malformed') throw new SluiceError('INVALID', `the command ${decoded.why}`);
    const problem = yield* problemOf(decoded, requestId);
    if (problem !== undefined) throw new SluiceError('INVALID', problem);
    return decoded;
  }

  #decoded(bytes: Uint8Array): Command | Malformed {
    try {
      return this.#options.decode(bytes);
    } catch (error) {
      if (error instanceof CommandNotUnderstood) return { op: 'malformed', why: `is not understood: ${error.message}` };
      throw error;
    }
  }
}

function answerTo(received: ReceivedOutcome): RelayAnswer {
  switch (received.outcome) {
    case 'applied':
      return { status: 200, body: encodeApplied(received.result) };
    case 'not-leader':
      return json(421, { error: 'this node does not lead', leader: received.leader ?? null });
    case 'not-applied':
      return json(503, { error: received.reason, outcome: 'not-applied' });
    case 'unknown':
      return json(504, { error: received.reason, outcome: 'unknown' });
  }
}

const json = (status: number, body: object): RelayAnswer => ({ status, body: JSON.stringify(body) });

/**
 * Returns the reason to keep a command out of the log; a spec is validated again, as the API of the sender validated
 * it.
 */
function* problemOf(command: Command, requestId: RequestId): Generator<void, string | undefined> {
  if (!isSame(command.requestId, requestId)) return 'the request id of the command is another one';
  if (command.op === 'put') return yield* problemOfSpec(command.kind, command.spec);
  if (command.op !== 'batch') return undefined;
  for (const operation of command.operations) {
    if (operation === undefined) return 'the command holds what is no operation';
    const problem = operation.spec && (yield* problemOfSpec(operation.kind, operation.spec));
    if (problem !== undefined) return problem;
    yield;
  }
  return undefined;
}

function* problemOfSpec(kind: EditableKind, spec: SpecText): Generator<void, string | undefined> {
  // The log carries the text: nodes that read it in different ways would have different states.
  if (!spec.isAsWritten) return 'the spec is not written as nodes write it';
  const { problems } = yield* parseInSteps(classOf[kind], spec.fields);
  const [problem] = problems;
  return problem && `the spec at ${JSON.stringify(problem.pointer)} ${problem.message}`;
}

const isSame = (a: RequestId, b: RequestId): boolean =>
  a.origin === b.origin && a.incarnation === b.incarnation && a.boot === b.boot && a.seq === b.seq;
