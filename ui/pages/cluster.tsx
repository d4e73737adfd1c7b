// Members of the cluster: roles, terms, clocks; and changes of them, each with the name typed.
import { useState } from 'preact/hooks';
import { healthOf } from '../frame/health.ts';
import { say } from '../frame/messages.tsx';
import { call, messageOf } from '../lib/api.ts';
import { bytes } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { cluster, disks, refusal } from '../lib/store.ts';
import type { Member, NodeDisks } from '../lib/types.ts';
import { Act, Badge, Confirmation, Field, Problem, SimpleTable } from '../parts/basics.tsx';

interface Asked {
  readonly title: string;
  readonly text: string;
  readonly typed: string;
  readonly run: () => Promise<void>;
}

export function ClusterPage() {
  const view = useLive(cluster);
  const stores = useLive(disks) ?? [];
  const [asked, setAsked] = useState<Asked>();
  const [problem, setProblem] = useState<string>();
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const refused = refusal('admin');
  const act = async (method: string, path: string, body: object | undefined, done: string): Promise<void> => {
    try {
      await call(method, path, { body });
      setProblem(undefined);
      say(done);
    } catch (error) {
      setProblem(messageOf(error));
    }
    await cluster.reload();
  };
  const transfer = ({ nodeId }: Member): Asked => ({
    title: `Transfer leadership to ${nodeId}`,
    text: 'Writes wait for a moment while the leader changes.',
    typed: nodeId,
    run: () => act('POST', '/cluster/transfer', { to: nodeId }, `${nodeId} leads.`),
  });
  const remove = ({ nodeId }: Member): Asked => ({
    title: `Remove ${nodeId}`,
    text: 'The node leaves the cluster and stops.',
    typed: nodeId,
    run: () => act('DELETE', `/cluster/members/${encodeURIComponent(nodeId)}`, undefined, `${nodeId} is removed.`),
  });
  const add = (event: Event): void => {
    event.preventDefault();
    void act('POST', '/cluster/members', { nodeId: name, address }, `${name} is a learner.`);
  };
  const health = healthOf(view, cluster.error.value);
  return (
    <>
      <Problem text={problem ?? cluster.error.value} />
      <p>
        <Badge tone={health.tone}>{health.text}</Badge> Term {view?.term ?? '…'}, commit {view?.commit ?? '…'}, applied{' '}
        {view?.applied ?? '…'}
      </p>
      <SimpleTable
        name="Members"
        head={['Node', 'Role', 'Health', 'Lag', 'Clock', 'Disk', 'Peers', 'API', '']}
        rows={(view?.members ?? []).map((member) => ({
          key: `${member.nodeId}/${member.incarnation}`,
          cells: [
            member.nodeId,
            member.role,
            member.healthy === null ? (
              <Badge key="health" tone="plain">
                not known
              </Badge>
            ) : (
              <Badge key="health" tone={member.healthy ? 'good' : 'bad'}>
                {member.healthy ? 'healthy' : 'not healthy'}
              </Badge>
            ),
            member.lag ?? '–',
            member.clockOffsetSeconds === null || member.clockOffsetSeconds === undefined
              ? '–'
              : `${member.clockOffsetSeconds.toFixed(3)} s`,
            <Disks key="disks" of={stores.find(({ nodeId }) => nodeId === member.nodeId)} />,
            member.raftAddress,
            member.apiAddress,
            view?.clustered === true ? (
              <span key="acts" class="row">
                {member.role === 'learner' && (
                  <Act
                    refused={refused}
                    onAct={() =>
                      act(
                        'POST',
                        `/cluster/members/${encodeURIComponent(member.nodeId)}/promote`,
                        undefined,
                        `${member.nodeId} votes.`,
                      )
                    }
                  >
                    Promote <span class="hidden">{member.nodeId}</span>
                  </Act>
                )}
                {member.role === 'voter' && (
                  <Act refused={refused} onAct={() => setAsked(transfer(member))}>
                    Transfer to <span class="hidden">{member.nodeId}</span>
                  </Act>
                )}
                <Act kind="danger" refused={refused} onAct={() => setAsked(remove(member))}>
                  Remove <span class="hidden">{member.nodeId}</span>
                </Act>
              </span>
            ) : (
              ''
            ),
          ],
        }))}
      />
      {view?.clustered === true && (
        <form class="card row" onSubmit={add}>
          <Field label="Node to add">
            {(id) => (
              <input
                id={id}
                required
                autocomplete="off"
                list="candidates"
                value={name}
                onInput={(event) => {
                  const typed = event.currentTarget.value;
                  setName(typed);
                  const candidate = view.candidates.find(({ nodeId }) => nodeId === typed);
                  if (candidate !== undefined) setAddress(candidate.raftAddress ?? '');
                }}
              />
            )}
          </Field>
          <datalist id="candidates">
            {view.candidates.map(({ nodeId }) => (
              <option key={nodeId} value={nodeId} />
            ))}
          </datalist>
          <Field label="Its address for peers">
            {(id) => (
              <input
                id={id}
                required
                autocomplete="off"
                placeholder="10.0.0.4:7000"
                value={address}
                onInput={(event) => setAddress(event.currentTarget.value)}
              />
            )}
          </Field>
          <button type="submit" disabled={refused !== undefined} title={refused}>
            Add as learner
          </button>
        </form>
      )}
      {asked !== undefined && <Confirmation {...asked} onConfirm={asked.run} onClose={() => setAsked(undefined)} />}
    </>
  );
}

const diskTones = { fine: 'good', low: 'warn', full: 'bad' } as const;
const diskWords = { fine: '', low: ', nearly full', full: ', full' } as const;

function Disks({ of }: { readonly of: NodeDisks | undefined }) {
  if (of === undefined || of.disks === null) return <span>–</span>;
  return (
    <>
      {of.disks.map(({ path, freeBytes, totalBytes, state }) => (
        <span key={path} title={`${bytes(freeBytes)} of ${bytes(totalBytes)} free at ${path}`}>
          <Badge tone={diskTones[state]}>
            {bytes(freeBytes)} free{diskWords[state]}
          </Badge>
        </span>
      ))}
      {of.problem !== null && <p>{of.problem}</p>}
    </>
  );
}
