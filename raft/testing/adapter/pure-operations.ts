// The two pure sets: what a quorum says, and how configurations follow each other. The configuration is carried
// from line to line until `reset`.
import { type ChangeResult, enterJoint, leaveJoint, type MemberChange, simple } from '../../core/config-change.ts';
import { committedIndex, voteResult } from '../../core/quorum.ts';
import { type Config, emptyConfig } from '../../core/types.ts';
import { changesOf } from './operations.ts';
import { describeConfig, idOf, numberOf } from './wire-names.ts';

export interface PureCommand {
  readonly op: string;
  readonly voters?: readonly number[];
  readonly outgoing?: readonly number[];
  /** Member → index, for those that acknowledged anything. */
  readonly acked?: Readonly<Record<string, number>>;
  /** Member → answer, for those that voted. */
  readonly votes?: Readonly<Record<string, boolean>>;
  readonly changes?: readonly unknown[];
  readonly autoLeave?: boolean;
}

export class PureOperations {
  #config: Config = emptyConfig;

  run(command: PureCommand): unknown {
    const halves = { voters: ids(command.voters), outgoing: ids(command.outgoing) };
    switch (command.op) {
      case 'reset':
        this.#config = emptyConfig;
        return {};
      case 'committed':
        return { index: shown(committedIndex(halves, (id) => command.acked?.[numberOf(id)] ?? 0)) };
      case 'vote':
        return { result: voteResult(halves, (id) => command.votes?.[numberOf(id)]) };
      case 'simple':
        return this.#adopt(simple(this.#config, changes(command)));
      case 'enterJoint':
        return this.#adopt(enterJoint(this.#config, changes(command), command.autoLeave ?? false));
      case 'leaveJoint':
        return this.#adopt(leaveJoint(this.#config));
      default:
        throw new Error(`there is no command "${command.op}"`);
    }
  }

  #adopt(result: ChangeResult): unknown {
    if (result.kind === 'invalid') return { error: result.why };
    // Scenario ids are reused at will; identities are not.
    this.#config = { ...result.config, removed: [] };
    return { config: describeConfig(this.#config) };
  }
}

function shown(index: number): number | string {
  return Number.isFinite(index) ? index : '∞';
}

function ids(numbers: readonly number[] = []) {
  return numbers.map(idOf);
}

function changes(command: PureCommand): MemberChange[] {
  return changesOf(command).map(([kind, id]) => {
    const member = { id: idOf(id), address: '', clientAddress: '' };
    if (kind === 'voter') return { type: 'addVoter', member };
    if (kind === 'learner') return { type: 'addLearner', member };
    return kind === 'remove' ? { type: 'remove', id: member.id } : { type: 'update', member };
  });
}
