// Snapshots, and what was active when.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { call, messageOf, post } from '../lib/api.ts';
import { moment } from '../lib/format.ts';
import { useLive } from '../lib/live.ts';
import { go } from '../lib/router.ts';
import { activations, refusal, snapshots } from '../lib/store.ts';
import type { SnapshotSummary } from '../lib/types.ts';
import { Act, Badge, Confirmation, Empty, Problem, SimpleTable } from '../parts/basics.tsx';
import { Comparison } from './comparison.tsx';

type Asked = { readonly what: 'activate' | 'delete'; readonly snapshot: SnapshotSummary };

export function Snapshots() {
  const list = useLive(snapshots);
  const log = useLive(activations);
  const [asked, setAsked] = useState<Asked>();
  const [compared, setCompared] = useState<SnapshotSummary>();
  const [problem, setProblem] = useState<string>();
  const refused = refusal('editor');
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await work();
      say(done);
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
    await Promise.all([snapshots.reload(), activations.reload()]);
  };
  const pathOf = ({ id }: SnapshotSummary): string => `/snapshots/${encodeURIComponent(id)}`;
  const run = ({ what, snapshot }: Asked): Promise<void> =>
    what === 'activate'
      ? act(() => post(`${pathOf(snapshot)}/activate`), `${snapshot.name} is active.`)
      : act(() => call('DELETE', pathOf(snapshot)), `${snapshot.name} is deleted.`);
  return (
    <>
      <Problem text={problem ?? snapshots.error.value} />
      {list?.length === 0 && <Empty>No snapshots yet: capture what is staged.</Empty>}
      {list !== undefined && list.length > 0 && (
        <SimpleTable
          name="Snapshots"
          head={['Name', 'Created', 'State', '']}
          rows={[...list].reverse().map((snapshot) => ({
            key: snapshot.id,
            cells: [
              snapshot.name,
              moment(snapshot.createdAt),
              snapshot.active ? (
                <Badge key="state" tone="good">
                  active
                </Badge>
              ) : (
                ''
              ),
              <span key="acts" class="row">
                <button type="button" onClick={() => setCompared(snapshot)}>
                  Compare <span class="hidden">{snapshot.name}</span>
                </button>
                {!snapshot.active && (
                  <>
                    <Act refused={refused} onAct={() => setAsked({ what: 'activate', snapshot })}>
                      Activate <span class="hidden">{snapshot.name}</span>
                    </Act>
                    <Act
                      refused={refused}
                      onAct={() =>
                        act(async () => {
                          await post(`${pathOf(snapshot)}/rollout`, {});
                          go('rollout');
                        }, `The rollout of ${snapshot.name} has begun.`)
                      }
                    >
                      Roll out <span class="hidden">{snapshot.name}</span>
                    </Act>
                    <Act kind="danger" refused={refused} onAct={() => setAsked({ what: 'delete', snapshot })}>
                      Delete <span class="hidden">{snapshot.name}</span>
                    </Act>
                  </>
                )}
              </span>,
            ],
          }))}
        />
      )}
      {compared !== undefined && <Comparison key={compared.id} snapshot={compared} />}
      <h2>What was active when</h2>
      {log?.length === 0 && <Empty>Nothing was active yet.</Empty>}
      {log !== undefined && log.length > 0 && (
        <SimpleTable
          name="Activations"
          head={['When', 'Snapshot', 'By', 'Why', 'Comment']}
          rows={log.map(({ index, at, name, by, reason, comment }) => ({
            key: String(index),
            cells: [moment(at), name ?? '', by ?? '', reason, comment ?? ''],
          }))}
        />
      )}
      {asked !== undefined && (
        <Confirmation
          title={asked.what === 'activate' ? `Activate ${asked.snapshot.name}` : `Delete ${asked.snapshot.name}`}
          text={
            asked.what === 'activate'
              ? 'Every proxy serves it at once. Undo goes back.'
              : 'A deleted snapshot cannot be activated again.'
          }
          onConfirm={() => run(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
