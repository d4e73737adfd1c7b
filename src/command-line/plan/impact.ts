// Impact of a change: the answer of `POST /diff`, and its lines for people.

import type { ConfigurationDifference, MovedRequests, ReplayReport } from '../../model/answers/diff-answers.ts';
import type { EntityDifference } from '../../model/answers/entity-difference.ts';
import type { Finding } from '../../model/answers/finding-answers.ts';
import type { EditableKind } from '../../model/kinds.ts';
import type { Api } from '../connection/api-client.ts';
import { countOf } from '../input/fault.ts';
import { findingText } from '../output/finding-lines.ts';
import { printable } from '../output/text-table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { changeLines, summaryOf } from './change-lines.ts';
import { findSnapshot } from './cluster-state.ts';
import type { Change } from './plan.ts';

/** Difference with requests that were replayed. */
export interface Impact extends Pick<ConfigurationDifference, 'entities' | 'findings'> {
  readonly replay: ReplayReport;
  readonly unreachable: readonly string[];
}

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly limit: number | undefined;
  readonly where: string | undefined;
}

/** Asks for the impact. Snapshots go by name or id. */
export async function impactOf(api: Api, { from, to, limit, where }: Asked): Promise<Impact> {
  const ends = { from: await idOf(api, from), to: await idOf(api, to) };
  const replay = { ...(limit !== undefined && { limit }), ...(where !== undefined && { where }) };
  return (await api.ask<Impact>('POST', '/diff', { json: { ...ends, replay } })).body;
}

const idOf = async (api: Api, state: string): Promise<string> =>
  state === 'staged' || state === 'active' ? state : (await findSnapshot(api, state)).id;

/** Lines of the difference, of its findings, and of the requests that it moves. */
export function impactLines(impact: Impact, terminal: Terminal, where: string): readonly string[] {
  const { entities, findings, replay, unreachable } = impact;
  const changes = changesIn(entities);
  const title = (text: string): string => text.padEnd(titleWidth);
  const told = (each: Finding): string => printable(findingText(each), true);
  const rows = (
    [
      ['moved', replay.moved, 'yellow'],
      ['lost', replay.lost, 'red'],
      ['gained', replay.gained, 'green'],
    ] as const
  ).flatMap(([name, list, color]) => list.map((each) => `${terminal.paint(color, title(name))}${movedText(each)}`));
  return [
    ...changeLines(changes, terminal, where),
    changes.length === 0 ? 'no difference' : summaryOf(changes),
    ...findings.new.map((each) => `${terminal.paint('red', title('finding +'))}${told(each)}`),
    ...findings.gone.map((each) => `${terminal.paint('green', title('finding -'))}${told(each)}`),
    `${title('replayed')}${requestsText(replay)}, ${replay.same} the same`,
    ...rows,
    ...replay.changed.map(
      ({ route, what, requests }) =>
        `${title('changed')}${requests}  ${printable(route.name, true)}: ${what.join(', ')}`,
    ),
    ...replay.undecided.map(
      ({ needs, requests }) => `${title('undecided')}${requests}  ${printable(needs, true)} is not recorded`,
    ),
    ...(unreachable.length === 0 ? [] : [`${title('without')}${printable(unreachable.join(', '), true)}`]),
  ];
}

const titleWidth = 11;

const requestsText = ({ requests, standsFor }: Pick<MovedRequests, 'requests' | 'standsFor'>): string =>
  standsFor === requests ? countOf(requests, 'request') : `${countOf(requests, 'request')} for ${standsFor}`;

function movedText({ from, to, examples, ...counts }: MovedRequests): string {
  const name = (route: MovedRequests['from']): string => route?.name ?? '(no route)';
  const [example] = examples;
  const shown = example === undefined ? '' : `   ${example.method} ${example.host}${example.path}`;
  return printable(`${requestsText(counts)}  ${name(from)} → ${name(to)}${shown}`, true);
}

/** Entities as a whole are not printed. */
function changesIn({ created, changed, deleted }: EntityDifference): readonly Change[] {
  const made = (list: EntityDifference['created'], is: 'created' | 'deleted') =>
    list.map((each) => ({ ...each, kind: each.kind as EditableKind, is, entity: each }));
  return [
    ...made(created, 'created'),
    ...changed.map((each) => ({ ...each, kind: each.kind as EditableKind, is: 'changed' as const, entity: each })),
    ...made(deleted, 'deleted'),
  ] as readonly Change[];
}
