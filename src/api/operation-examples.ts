// Examples of operations for explorers: with those of the bodies of resources, each operation works when it is executed as it
// stands, in the order of the document's story. Ids that the server assigns are filled in when the document is read.
import type { OpenAPIObject } from '@nestjs/swagger';
import { editableClasses } from '../model/config-classes.ts';
import { editableKinds, nounOf } from '../model/kinds.ts';
import type { StateView } from '../state/view.ts';

type Paths = OpenAPIObject['paths'];

interface OperationExample {
  /** Values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Ids of a moment. */
const liveNames = ['snapshot', 'unconfirmed', 'activation', 'rollout', 'node'] as const;
type LiveName = (typeof liveNames)[number];

const live = (name: LiveName): string => `{{live:${name}}}`;
const snapshot = { id: live('snapshot') };
const rollout = { id: live('rollout') };
const backend = { id: 'backend' };
const endpoint = { ...backend, endpoint: '127.0.0.1:9000' };

const ofResources = editableKinds.flatMap((kind): [string, OperationExample][] => {
  const noun = nounOf(kind);
  const { id } = editableClasses[kind].example;
  return ['get', 'update', 'delete'].map((verb) => [
    `${verb}${noun.charAt(0).toUpperCase()}${noun.slice(1)}`,
    { path: { id } },
  ]);
});

const oneRoute = { body: { operations: [{ op: 'upsert', kind: 'routes', body: editableClasses.routes.example }] } };

const examples: Readonly<Record<string, OperationExample>> = {
  ...Object.fromEntries(ofResources),
  runBatch: oneRoute,
  runLargeBatch: oneRoute,
  createSnapshot: { body: { name: 'first' } },
  getSnapshot: { path: snapshot },
  deleteSnapshot: { path: snapshot },
  activateSnapshot: { path: snapshot, body: { comment: 'The shop opens.' } },
  confirmSnapshot: { path: { id: live('unconfirmed') } },
  startRollout: { path: snapshot, body: { comment: 'Some clients first.' } },
  getRollout: { path: rollout },
  pauseRollout: { path: rollout },
  resumeRollout: { path: rollout },
  promoteRollout: { path: rollout, body: { share: 100 } },
  abortRollout: { path: rollout },
  diffActivation: { path: { index: live('activation') } },
  rollBack: { body: { comment: 'Back to what was.' } },
  discardStaged: { body: { entities: [{ kind: 'routes', id: 'shop' }] } },
  diffConfigurations: { body: { from: 'active', to: 'staged' } },
  explainRequest: { body: { url: 'http://127.0.0.1:8081/v1/shop', snapshot: 'staged' } },
  getEndpoints: { path: backend },
  drainEndpoint: { path: endpoint },
  undoDrain: { path: endpoint },
  getProxy: { path: { id: live('node') } },
  forgetProxy: { path: { id: 'edge-1' } },
  setLogLevel: { body: { level: 'info' } },
  addMember: { body: { nodeId: 'node-4', address: '10.0.0.4:7000' } },
  removeMember: { path: { nodeId: 'node-4' } },
  promoteMember: { path: { nodeId: 'node-4' } },
  replaceMember: { path: { nodeId: 'node-3' }, body: { by: 'node-4' } },
};

/** Fills in the examples. */
export function fillExamples(paths: Paths): void {
  const operations = Object.values(paths).flatMap((item) => [item.get, item.post, item.put, item.delete]);
  for (const operation of operations) {
    const { path = {}, body } = examples[operation?.operationId ?? ''] ?? {};
    for (const parameter of operation?.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'path' && path[parameter.name] !== undefined)
        parameter.example = path[parameter.name];
    }
    if (body === undefined || operation?.requestBody === undefined || !('content' in operation.requestBody)) continue;
    for (const content of Object.values(operation.requestBody.content))
      content.examples = { working: { summary: 'A body that works', value: body } };
  }
}

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
