// `cluster members …`, `cluster transfer`: membership and leadership.
import type { ClusterOverview, Leadership, MemberView } from '../../model/answers/cluster-answers.ts';
import { command } from '../command-declaration.ts';
import { exitCodes } from '../exit.ts';
import { show } from '../output/form.ts';
import type { Column } from '../output/text-table.ts';

export const memberColumns: readonly Column<MemberView>[] = [
  { title: 'node', cell: ({ nodeId }) => nodeId },
  { title: 'role', cell: ({ role }) => role },
  { title: 'healthy', cell: ({ healthy }) => (healthy === null ? '?' : healthy ? 'yes' : 'NO') },
  { title: 'lag', isNumber: true, cell: ({ lag }) => String(lag ?? '?') },
  {
    title: 'clock',
    isNumber: true,
    cell: ({ clockOffsetSeconds: offset }) => (offset === null ? '' : `${offset.toFixed(3)} s`),
  },
  { title: 'api', cell: ({ apiAddress }) => apiAddress },
  { title: 'raft', isWide: true, cell: ({ raftAddress }) => raftAddress },
];

const node = { name: 'NODE', brief: 'Name of the node' } as const;

export const membersList = command({
  words: 'cluster members list',
  brief: 'List the nodes of the cluster, and those that wait to join',
  hasForms: true,
  async run(session) {
    const { members, candidates } = await (await session.api()).get<ClusterOverview>('/cluster');
    await show(session.terminal, session.form, {
      items: members,
      columns: memberColumns,
      nameOf: ({ nodeId }) => nodeId,
    });
    for (const { nodeId, raftAddress } of candidates)
      session.terminal.hint(`${nodeId} waits to join: sluice cluster members add ${nodeId} ${raftAddress}`);
    return exitCodes.done;
  },
});

export const membersAdd = command({
  words: 'cluster members add',
  brief: 'Take in a started node as a learner',
  arguments: [node, { name: 'ADDRESS', brief: 'Where peers reach it, host:port' }],
  async run(session, [nodeId, address]) {
    await (await session.api()).ask('POST', '/cluster/members', { json: { nodeId, address } });
    session.terminal.note(`${nodeId} follows · let it vote: sluice cluster members promote ${nodeId}`);
    return exitCodes.done;
  },
});

export const membersPromote = command({
  words: 'cluster members promote',
  brief: 'Let a learner vote',
  arguments: [node],
  async run(session, [nodeId = '']) {
    await (await session.api()).ask('POST', `/cluster/members/${encodeURIComponent(nodeId)}/promote`);
    session.terminal.note(`${nodeId} votes`);
    return exitCodes.done;
  },
});

export const membersReplace = command({
  words: 'cluster members replace',
  brief: 'Let a learner vote in the place of a node, in one step',
  arguments: [node, { name: 'LEARNER', brief: 'Name of the learner' }],
  async run(session, [nodeId = '', by]) {
    const api = await session.api();
    await session.confirm(`Replace ${nodeId} by ${by}?`);
    await api.ask('POST', `/cluster/members/${encodeURIComponent(nodeId)}/replace`, { json: { by } });
    session.terminal.note(`${by} votes in the place of ${nodeId}`);
    return exitCodes.done;
  },
});

export const membersRemove = command({
  words: 'cluster members remove',
  brief: 'Remove a node from the cluster',
  arguments: [node],
  flags: { force: { kind: 'switch', brief: 'Also where the nodes left are no quorum' } },
  async run(session, [nodeId = ''], { force }) {
    const api = await session.api();
    await session.confirm(`Remove ${nodeId} from the cluster?`);
    await api.ask('DELETE', `/cluster/members/${encodeURIComponent(nodeId)}`, {
      query: { ...(force && { force: 'true' }) },
    });
    session.terminal.note(`${nodeId} is no member any more`);
    return exitCodes.done;
  },
});

export const clusterTransfer = command({
  words: 'cluster transfer',
  brief: 'Let another node lead',
  arguments: [{ ...node, optional: true, brief: 'Name of a voter; default: the one that is furthest' }],
  async run(session, [to]) {
    const api = await session.api();
    // A repetition whose answer got lost must not move the leadership on from the node that has it by then.
    const { leader: from } = to === undefined ? await api.get<ClusterOverview>('/cluster') : { leader: null };
    const { body } = await api.ask<Leadership>('POST', '/cluster/transfer', {
      json: { ...(to !== undefined && { to }), ...(from !== null && { from }) },
    });
    session.terminal.note(`${body.leader} leads`);
    return exitCodes.done;
  },
});
