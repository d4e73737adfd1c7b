// `diff`: what files would change, or how two configurations differ.
import { command } from '../command.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { changeLines, differenceOf, summaryOf } from '../plan/change-lines.ts';
import { stateNamed } from '../plan/cluster-state.ts';
import { inputFlags, kindsNeeded, planAgainst, planInput, readInput } from '../plan/input-plan.ts';
import type { Change } from '../plan/plan.ts';
import { changesBetween } from '../plan/state-changes.ts';
import type { Session } from '../session.ts';

export const diffCommand = command({
  words: 'diff',
  brief: 'Show what files would change, or how two configurations differ',
  text: `With \`-f\` the files are compared with what is staged, or with \`--against\`. Resources that an owner of the input has and
the input lacks are shown as deleted: \`apply --prune\` would delete them. Without \`-f\` two of \`staged\`, \`active\` and
snapshots by name or id are compared. Exit code 3: there is a difference.`,
  arguments: [
    { name: 'FROM', brief: 'staged, active, or a snapshot', optional: true },
    { name: 'TO', brief: 'staged, active, or a snapshot', optional: true },
  ],
  flags: {
    ...inputFlags,
    against: { kind: 'text', value: 'STATE', brief: 'staged (default), active, or a snapshot' },
  },
  hasForms: true,
  examples: [
    { line: 'sluice diff -f conf/', does: 'shows what sluice apply -f conf/ would change' },
    { line: 'sluice diff active staged', does: 'shows what is staged and not live' },
  ],
  async run(session, [from, to], flags) {
    const isOfFiles = flags.file.length > 0;
    if (isOfFiles === (from !== undefined))
      throw wrongUsage('diff takes -f FILE, or two of staged, active and snapshots');
    const changes = isOfFiles ? await ofFiles(session, flags) : await ofStates(session, from ?? '', to ?? 'staged');
    await showDifference(session, changes, isOfFiles ? flags.file.join(' ') : (to ?? 'staged'));
    return changes.length > 0 ? exitCodes.different : exitCodes.done;
  },
});

type InputOf = Parameters<typeof readInput>[0] & { readonly against: string | undefined };

async function ofFiles(session: Session, { against = 'staged', ...flags }: InputOf): Promise<readonly Change[]> {
  const input = await readInput(flags);
  const api = await session.api();
  if (against === 'staged') return (await planInput(api, input, { adopt: true })).plan.changes.filter(isTold);
  const { entities } = await stateNamed(api, against);
  const needed = kindsNeeded(input);
  const state = {
    entities: Object.fromEntries(Object.entries(entities).filter(([kind]) => needed.has(kind as never))),
  };
  return (await planAgainst(input, state, { adopt: true })).changes.filter(isTold);
}

/** The value of a secret is not told, so that one that is there cannot be compared. */
const isTold = (change: Change): boolean => change.is !== 'changed' || change.changes.length > 0;

async function ofStates(session: Session, from: string, to: string): Promise<readonly Change[]> {
  const api = await session.api();
  return changesBetween(await stateNamed(api, from), await stateNamed(api, to));
}

/** Prints a difference in the form of the session. */
export async function showDifference(
  { terminal, form }: Session,
  changes: readonly Change[],
  where: string,
): Promise<void> {
  if (form.is === 'json') return terminal.print(JSON.stringify(differenceOf(changes), undefined, 2));
  if (form.is === 'yaml') {
    const { yamlOf } = await import('../output/form.ts');
    return terminal.write(await yamlOf(differenceOf(changes)));
  }
  if (form.is === 'name') {
    for (const { kind, name } of changes) terminal.print(`${kind}/${name}`);
    return;
  }
  for (const line of changeLines(changes, terminal, where)) terminal.print(line);
  terminal.note(changes.length === 0 ? 'no difference' : summaryOf(changes));
}
