// `requests mismatches`: responses of comparing mirrors that differ from those of the requests themselves.
import type { MirrorMismatch } from '../../model/answers/request-answers.ts';
import { command } from '../command-declaration.ts';
import { numberGiven } from '../flag-values.ts';
import { show } from '../output/form.ts';
import type { Column } from '../output/text-table.ts';

const columns: readonly Column<MirrorMismatch>[] = [
  { title: 'time', cell: ({ time }) => time.slice(0, 19).replace('T', ' ') },
  // One of an earlier version does not tell its name.
  { title: 'node', cell: ({ node = '' }) => node },
  { title: 'route', cell: ({ route }) => route },
  { title: 'mirror', cell: ({ destination }) => destination },
  { title: 'request', cell: ({ method, host, path }) => `${method} ${host}${path}` },
  { title: 'differs', cell: ({ result, pointer, header }) => [result, header ?? pointer ?? ''].join(' ').trim() },
  { title: 'primary', cell: ({ primary, result }) => sideText(primary, result) },
  { title: 'mirrored', cell: ({ mirror, result }) => sideText(mirror, result) },
];

const sideText = ({ status, value }: MirrorMismatch['primary'], result: MirrorMismatch['result']): string =>
  result === 'status' && value === null ? String(status) : (value ?? 'absent');

/** Mismatches by the node that compared: a node tells those of all nodes, one of an earlier version its own, without a name. */
function listedByNode(lists: readonly (readonly MirrorMismatch[])[]): readonly MirrorMismatch[] {
  const byNode = new Map<string, readonly MirrorMismatch[]>();
  for (const [at, list] of lists.entries())
    for (const [node, own = []] of Object.entries(Object.groupBy(list, ({ node = `server ${at}` }) => node)))
      if ((byNode.get(node)?.length ?? 0) < own.length) byNode.set(node, own);
  return [...byNode.values()].flat();
}

/** Most that a node remembers. */
const limitMax = 1_000;

export const requestsMismatches = command({
  words: 'requests mismatches',
  brief: 'List responses of mirrors that differ',
  text: `Of routes with \`mirror.compare\`: the last ${limitMax.toLocaleString('en')} of the proxy of each node, newest first.`,
  flags: {
    route: { kind: 'text', value: 'NAME', brief: 'Those of this route' },
    limit: { kind: 'text', value: 'N', brief: 'The newest N; default 20' },
  },
  hasForms: true,
  examples: [{ line: 'sluice requests mismatches --route shop', does: 'shows where the mirror answers otherwise' }],
  async run(session, _, { route, limit = '20' }) {
    const most = numberGiven('limit', limit, { max: limitMax });
    const { each } = await session.api();
    const lists = await Promise.all(
      each.map((api) => api.get<readonly MirrorMismatch[]>('/mirrors/mismatches', { limit: String(limitMax) })),
    );
    const items = listedByNode(lists)
      .filter((one) => route === undefined || one.route === route || one.routeId === route)
      .sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0))
      .slice(0, most);
    await show(session.terminal, session.form, {
      items,
      columns,
      nameOf: ({ routeId }) => `routes/${routeId}`,
      empty: 'no response of a mirror differs',
    });
    return undefined;
  },
});
