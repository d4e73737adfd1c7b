// `diff`: what files would change, or how two configurations differ.
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { numberGiven } from '../flag-values.ts';
import { showValue } from '../output/form.ts';
import { changeLines, differenceOf, summaryOf } from '../plan/change-lines.ts';
import { stateNamed } from '../plan/cluster-state.ts';
import { changesBetween } from '../plan/configuration-changes.ts';
import { inputFlags, kindsNeeded, planAgainst, planInput, readInput } from '../plan/input-plan.ts';
import type { Change, Plan } from '../plan/plan.ts';

export const diffCommand = command({
  words: 'diff',
  brief: 'Show what files would change, or how two configurations differ',
  text: `With \`-f\` the files are compared with what is staged, or with \`--against\`. Resources that an owner of the input has and
the input lacks are shown as deleted: \`apply --prune\` would delete them. Without \`-f\` two of \`staged\`, \`active\` and
snapshots by name or id are compared. With \`--replay\` the requests that nodes and proxies remember are matched against both: which
move to another route, are lost or gained, or are served otherwise; \`active\` and \`staged\` unless two are named. Exit code 3: there is
a difference.`,
  arguments: [
    { name: 'FROM', brief: 'staged, active, or a snapshot', optional: true },
    { name: 'TO', brief: 'staged, active, or a snapshot', optional: true },
  ],
  flags: {
    ...inputFlags,
    replay: { kind: 'switch', brief: 'Replay the recorded requests against both' },
    limit: { kind: 'text', value: 'N', brief: 'Replays the newest N requests; 10000 at most, and by default' },
    where: { kind: 'text', value: 'CEL', brief: 'Replays those for which it is true, as of sluice requests tail' },
    against: { kind: 'text', value: 'STATE', brief: 'staged (default), active, or a snapshot' },
  },
  hasForms: true,
  examples: [
    { line: 'sluice diff -f conf/', does: 'shows what sluice apply -f conf/ would change' },
    { line: 'sluice diff active staged', does: 'shows what is staged and not live' },
    { line: 'sluice diff --replay', does: 'shows that, and what it does to the requests of the last minutes' },
  ],
  async run(session, [from, to], flags) {
    const isOfFiles = flags.file.length > 0;
    if (flags.replay) {
      if (isOfFiles) throw wrongUsage('--replay compares staged, active and snapshots, not files: apply them first');
      return await showImpact(session, from ?? 'active', to ?? 'staged', flags);
    }
    if (flags.limit !== undefined || flags.where !== undefined) throw wrongUsage('--limit and --where need --replay');
    if (isOfFiles === (from !== undefined))
      throw wrongUsage('diff takes -f FILE, or two of staged, active and snapshots');
    const changes = isOfFiles ? await ofFiles(session, flags) : await ofStates(session, from ?? '', to ?? 'staged');
    const where = isOfFiles ? flags.file.join(' ') : (to ?? 'staged');
    await showDifference(session, changes.list, where, changes.others);
    return changes.list.length > 0 ? exitCodes.different : exitCodes.done;
  },
});

async function showImpact(
  session: Session,
  from: string,
  to: string,
  { limit, where }: { readonly limit: string | undefined; readonly where: string | undefined },
): Promise<number> {
  const most = limit === undefined ? undefined : numberGiven('limit', limit);
  const { impactLines, impactOf } = await import('../plan/impact.ts');
  const impact = await impactOf(await session.api(), { from, to, limit: most, where });
  await showValue(
    session.terminal,
    session.form,
    impact,
    () => `${impactLines(impact, session.terminal, to).join('\n')}\n`,
  );
  const { created, changed, deleted } = impact.entities;
  return created.length + changed.length + deleted.length > 0 ? exitCodes.different : exitCodes.done;
}

type InputOf = Parameters<typeof readInput>[0] & { readonly against: string | undefined };

interface Found {
  readonly list: readonly Change[];
  /** About edits of others that are staged, for the last line. */
  readonly others: string;
}

async function ofFiles(session: Session, { against = 'staged', ...flags }: InputOf): Promise<Found> {
  const input = await readInput(flags);
  const api = await session.api();
  if (against === 'staged') {
    // The server compares while the input is compared here.
    const edits = api.get<StagedEdits>('/staged/diff');
    edits.catch(() => undefined);
    const { plan } = await planInput(api, input, { adopt: true });
    return { list: plan.changes, others: othersText((await edits).entities, input.owners, plan) };
  }
  const { entities } = await stateNamed(api, against);
  const needed = kindsNeeded(input);
  const state = {
    entities: Object.fromEntries(Object.entries(entities).filter(([kind]) => needed.has(kind as never))),
  };
  // Snapshots have no secrets to compare with.
  const { changes } = await planAgainst(input, state, { adopt: true });
  return { list: changes.filter(({ kind }) => kind !== 'secrets'), others: '' };
}

interface StagedEdit {
  readonly kind: string;
  readonly id: string;
  readonly owner?: string;
}

interface StagedEdits {
  readonly entities: Readonly<Record<string, readonly StagedEdit[]>>;
}

/** ` · staged changes of others: 2 (team-pay), untouched`, or nothing. */
function othersText(edits: StagedEdits['entities'], owners: ReadonlySet<string>, { entities, changes }: Plan): string {
  const own = new Set([
    ...entities.map(({ kind, entity }) => `${kind} ${entity.id}`),
    ...changes.map(({ kind, id }) => `${kind} ${id}`),
  ]);
  const others = Object.values(edits)
    .flat()
    .filter(({ kind, id, owner }) => !own.has(`${kind} ${id}`) && (owner === undefined || !owners.has(owner)));
  if (others.length === 0) return '';
  const names = [...new Set(others.flatMap(({ owner }) => owner ?? []))].sort();
  return ` · staged changes of others: ${others.length}${names.length === 0 ? '' : ` (${names.join(', ')})`}, untouched`;
}

async function ofStates(session: Session, from: string, to: string): Promise<Found> {
  const api = await session.api();
  return { list: await changesBetween(await stateNamed(api, from), await stateNamed(api, to)), others: '' };
}

/** Prints a difference in the form of the session. */
export async function showDifference(
  { terminal, form }: Session,
  changes: readonly Change[],
  where: string,
  others = '',
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
  terminal.note((changes.length === 0 ? 'no difference' : summaryOf(changes)) + others);
}
