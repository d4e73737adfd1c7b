// `apply`: makes resources what files say, in one batch, and live where that is asked for.
import { command, type Values } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { ApiRefusal } from '../connection/failed-answers.ts';
import { CommandFailure, exitCodes, failed, wrongUsage } from '../exit.ts';
import { countOf } from '../input/fault.ts';
import {
  activationFlags,
  checkActivation,
  isLive,
  liveChanges,
  type Meant,
  makeLive,
  noteLarge,
  ownerOf,
} from '../live/activation.ts';
import { printable } from '../output/text-table.ts';
import { changeLines, summaryOf } from '../plan/change-lines.ts';
import { inputFlags, planInput, readInput } from '../plan/input-plan.ts';
import type { Change, Plan } from '../plan/plan.ts';
import { commit } from '../plan/plan-commit.ts';
import { showDifference } from './diff-command.ts';

const flags = {
  ...inputFlags,
  prune: { kind: 'switch', brief: 'Delete what the owner has and the input lacks, of the kinds in the input' },
  pruneMax: {
    kind: 'text',
    value: 'PERCENT',
    brief: 'Most of the owner’s resources that --prune deletes; default 20%',
  },
  adopt: { kind: 'switch', brief: 'Take over resources of other owners' },
  dryRun: { kind: 'switch', brief: 'Show what would change; exit code 3 when anything would' },
  ifStaged: { kind: 'text', value: 'ETAG', brief: 'Refuse when what is staged has another ETag' },
  ...activationFlags,
} as const;

export const applyCommand = command({
  words: 'apply',
  brief: 'Make resources what files say, in one batch',
  text: `Resources are found by \`id\`, else by \`name\`; references may be names. All changes take effect together, or none does; what
is the same is not written. Without \`--activate\` the changes are staged.`,
  flags,
  hasForms: true,
  examples: [
    { line: 'sluice apply -f conf/', does: 'stages the difference' },
    {
      line: 'sluice apply -f conf/ --owner team-shop --prune --activate --rollout 1,10,100 --wait all',
      does: 'makes the folder all that team-shop has, step by step, and waits until it is live everywhere',
    },
    { line: 'sluice apply -f conf/ --dry-run', does: 'shows the difference, and what the server thinks of it' },
  ],
  run: apply,
});

type Flags = Values<typeof flags>;

async function apply(session: Session, _: readonly string[], given: Flags): Promise<number> {
  checkActivation(given);
  const input = await readInput(given);
  if (given.prune && input.owners.size === 0)
    throw wrongUsage('--prune needs an owner: --owner NAME, or owner: at the top of the files');
  const api = await session.api();
  for (let attempt = 1; ; attempt++) {
    const { plan, state } = await planInput(api, input, given);
    const meant = {
      entities: plan.entities,
      kinds: input.kinds,
      owners: input.owners,
      etag: given.ifStaged === undefined ? state.etag : quoted(given.ifStaged),
    };
    const changes = plan.changes.filter(({ is }) => given.prune || is !== 'deleted');
    if (given.dryRun) return await dryRun(session, changes, meant, given);
    if (given.prune) await confirmPrune(session, plan, given);
    try {
      return await written(session, { plan, changes, meant }, given);
    } catch (error) {
      // Edited between the reading and the batch: what is to be done is found out again.
      const isRace = error instanceof ApiRefusal && error.status === 412 && given.ifStaged === undefined;
      if (!isRace || attempt === racesMax) throw error;
    }
  }
}

const racesMax = 5;

/** Revisions are quoted in `If-Match`. */
const quoted = (etag: string): string => (/^("|\*)/.test(etag) ? etag : `"${etag}"`);

async function dryRun(session: Session, changes: readonly Change[], meant: Meant, given: Flags): Promise<number> {
  const api = await session.api();
  const { failOn } = given;
  // Findings are those of what would be live, with what an earlier apply has staged.
  const judged = failOn === undefined ? { changes } : await liveChanges(api, changes, meant, given.prune);
  const { reply, changed } = await commit(api, judged.changes, {
    dryRun: true,
    ...(failOn !== undefined && {
      snapshot: { name: `dry run ${new Date().toISOString()}`, base: 'active' as const, failOn },
    }),
    override: given.adopt,
    owner: ownerOf(meant),
    ifMatch: meant.etag,
  });
  const { created = [], changed: altered = [], deleted = [] } = reply.body.entities ?? {};
  const written = new Set([...created, ...altered, ...deleted].map(({ kind, id }) => `${kind} ${id}`));
  const real = changes.filter(({ kind, id }) => written.has(`${kind} ${id}`));
  await showDifference(session, real, given.file.join(' '));
  for (const { pointer, message } of reply.body.warnings ?? []) session.terminal.warn(`${pointer} ${message}`);
  const { problems = [] } = reply.body;
  if (problems.length > 0)
    throw new CommandFailure(
      exitCodes.refused,
      'no snapshot could be made of it',
      problems.map(({ pointer, message }) => printable(`${pointer} ${message}`, true)),
    );
  return changed > 0 ? exitCodes.different : exitCodes.done;
}

/** Prints what is deleted and asks. Throws where it is more than may be, and where the answer is no. */
async function confirmPrune(session: Session, plan: Plan, { pruneMax = '20%', file }: Flags): Promise<void> {
  const deleted = plan.changes.filter(({ is }) => is === 'deleted');
  if (deleted.length === 0) return;
  const [, percent] = /^(\d+(?:\.\d+)?)%?$/.exec(pruneMax) ?? [];
  if (percent === undefined || Number(percent) > 100)
    throw wrongUsage(`--prune-max must be a percentage such as 20%, not ${pruneMax}`);
  const lines = changeLines(deleted, session.terminal, file.join(' '));
  if (deleted.length > (Number(percent) / 100) * plan.owned)
    throw failed(
      `--prune would delete ${deleted.length} of ${countOf(plan.owned, 'resource')}, more than --prune-max ${percent}%; nothing was staged`,
      lines,
    );
  for (const line of lines) session.terminal.hint(line);
  await session.confirm(`Delete ${countOf(deleted.length, 'resource')}?`);
}

interface Work {
  readonly plan: Plan;
  readonly changes: readonly Change[];
  readonly meant: Meant;
}

async function written(session: Session, { plan, changes, meant }: Work, given: Flags): Promise<number> {
  const { terminal } = session;
  for (const { kind, name, owner } of plan.adopted)
    terminal.note(`adopted   ${kind}/${name} had no owner and is ${owner}'s now`);
  if (given.activate || isLive(given)) return await makeLive(session, changes, given, meant);
  if (changes.length === 0) return none(session);
  session.underWay = 'the batch may have been taken; sluice diff -f tells, and nothing is live by it';
  const api = await session.api();
  const { reply, changed } = await commit(api, changes, {
    override: given.adopt,
    owner: ownerOf(meant),
    ifMatch: meant.etag,
    onLarge: (bytes) => noteLarge(terminal, changes.length, bytes),
  });
  if (changed === 0) return none(session);
  terminal.note(`staged    ${countOf(changed, 'change')} in one batch (index ${reply.body.index})`);
  terminal.trace(summaryOf(changes));
  return exitCodes.done;
}

function none({ terminal }: Session): number {
  terminal.note('no change');
  return exitCodes.done;
}
