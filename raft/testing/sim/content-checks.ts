// Guarantees visible at one node alone: checkpoints hold the agreed state (B16), sessions read back what they wrote
// (B22), and proxies never go back to an older activation (B23).
import type { CheckpointMeta, Config, Index, MemberId } from '../../core/types.ts';
import type { Ghost } from './ghost.ts';
import { type Activation, digestOf, type MachineState } from './state-machine.ts';
import type { Fail } from './violation.ts';

export interface SessionRead {
  /** The answer must include everything up to here. */
  readonly asked: Index;
  /** Index of the state that answered. */
  readonly served: Index;
  /** The operation that the register read holds, and the one that the session wrote there or saw there last. */
  readonly value: number;
  readonly known: number;
}

export class ContentChecks {
  readonly #ghost: Ghost;
  readonly #fail: Fail;

  constructor(ghost: Ghost, fail: Fail) {
    this.#ghost = ghost;
    this.#fail = fail;
  }

  /** B16: `meta` goes into the log of `node`; `content` is what the file holds. */
  checkpoint(node: MemberId, meta: CheckpointMeta, content: MachineState | undefined): void {
    const { index } = meta;
    if (content === undefined) this.#fail('B16', `${node}: no node wrote the checkpoint at ${index}`);
    else this.#hasAgreedContent(node, content, index);
    const entry = this.#ghost.committed[index - 1];
    if (entry?.term !== meta.term || entry.time !== meta.time)
      this.#fail('B16', `${node}: the checkpoint at ${index} names term ${meta.term} and time ${meta.time}`);
    const config = this.#ghost.configAt(index);
    if (!isSameConfig(meta.config, config))
      this.#fail('B16', `${node}: the checkpoint at ${index} names the voters ${meta.config.voters.join(' ')}`);
  }

  /** B16: the state that was built from a checkpoint. */
  adopted(node: MemberId, state: MachineState): void {
    this.#hasAgreedContent(node, state, state.applied);
  }

  #hasAgreedContent(node: MemberId, state: MachineState, index: Index): void {
    const agreed = this.#ghost.stateAt(index);
    const { activation, applied, hash, registers } = state;
    const isSame =
      applied === index &&
      hash === agreed?.hash &&
      digestOf(registers) === agreed.digest &&
      activation.index === agreed.activation.index &&
      activation.op === agreed.activation.op;
    if (!isSame) this.#fail('B16', `${node}: the checkpoint at ${index} holds another state`);
  }

  /** B22. */
  sessionRead(node: MemberId, { asked, served, value, known }: SessionRead): void {
    if (served < asked) this.#fail('B22', `${node} answers at ${served} a read that asked for ${asked}`);
    else if (this.#positionOf(value) < this.#positionOf(known))
      this.#fail('B22', `${node} answers with operation ${value} a session that knows of ${known}`);
  }

  #positionOf(op: number): Index {
    return op === 0 ? 0 : (this.#ghost.positionOf(op) ?? 0);
  }

  /** B22: the ids of one stream of events rise. */
  event(node: MemberId, before: Index, { index }: Activation): void {
    if (index <= before) this.#fail('B22', `${node} sends event ${index} after ${before}`);
  }

  /** B23. */
  shown(proxy: string, before: Index, { index, op }: Activation): void {
    if (index < before) this.#fail('B23', `${proxy} goes back from activation ${before} to ${index}`);
    else if (this.#ghost.committed[index - 1]?.op !== op)
      this.#fail('B23', `${proxy} shows operation ${op}, which is not what was agreed on at ${index}`);
  }
}

function isSameConfig(a: Config, b: Config | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
