// Ids of a moment in the examples of operations: the server assigns them, and they are filled in when the document is read.
import type { StateView } from '../state/view.ts';

const liveNames = ['snapshot', 'unconfirmed', 'activation', 'rollout', 'node'] as const;
type LiveName = (typeof liveNames)[number];

/** Returns the text that stands for the id. */
export const live = (name: LiveName): string => `{{live:${name}}}`;

type LiveIds = Readonly<Partial<Record<LiveName, string | undefined>>>;

export function liveIdsOf(view: StateView, nodeId: string): LiveIds {
  const newest = view.snapshots().at(-1)?.id;
  return {
    snapshot: newest,
    unconfirmed: view.pending?.snapshotId ?? newest,
    activation: view.activations.at(-1)?.index.toString(),
    rollout: view.rollouts.at(-1)?.id,
    node: nodeId,
  };
}

/** Returns the text of a document with these ids; `none` in the place of those that are not there. */
export const withLiveIds = (text: string, ids: LiveIds): string =>
  liveNames.reduce((filled, name) => filled.replaceAll(live(name), ids[name] ?? 'none'), text);
