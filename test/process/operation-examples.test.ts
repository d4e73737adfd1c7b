// Examples of the OpenAPI document, executed as they stand on a running node, in the order of the document's story.
import { expect } from 'chai';
import { editableKinds, nounOf } from '../../src/model/kinds.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { call } from '../support/http-call.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: string }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >;
  };
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Operations between processes of Sluice. */
const internal = new Set(['sync']);
/** Operations that one node by itself refuses. */
const refused: Readonly<Record<string, string>> = {
  addMember: 'needs another node',
  removeMember: 'needs another node',
  promoteMember: 'needs another node',
  replaceMember: 'needs other nodes',
  transferLeadership: 'needs another node',
  forgetProxy: 'needs a proxy that is lost',
  createKey: 'needs API keys in the settings',
  revokeKey: 'needs API keys in the settings',
};
/** Streams, which have no end. */
const streams = new Set(['followChanges', 'followRequests']);

const nouns = editableKinds.map((kind) => {
  const noun = nounOf(kind);
  return `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
});
const story = [
  ...nouns.map((noun) => `create${noun}`),
  ...nouns.flatMap((noun) => [`list${noun}s`, `get${noun}`, `update${noun}`]),
  ...[
    'diffStaged',
    'explainRequest',
    'diffConfigurations',
    'listFindings',
    'createSnapshot',
    'listSnapshots',
    'getSnapshot',
  ],
  ...[
    'activateSnapshot',
    'listActivations',
    'diffActivation',
    'getEndpoints',
    'listEndpoints',
    'drainEndpoint',
    'undoDrain',
    'listKeys',
    'listCookieKeys',
    'rotateCookieKeys',
  ],
  ...[
    'getStats',
    'listRequests',
    'listMirrorMismatches',
    'listCertificates',
    'getFleet',
    'getProxy',
    'getCluster',
    'getBackup',
  ],
  ...[
    'getHealth',
    'getReadiness',
    'getMetrics',
    'getLogLevel',
    'setLogLevel',
    'whoAmI',
    'getDebugConfig',
    'getExplorer',
  ],
  ...['getDocument', 'listDisks', 'runBatch', 'runLargeBatch', 'discardStaged'],
];

describe('examples of the document', () => {
  let sluice: SluiceProcess;
  const done = new Set<string>();
  before(async () => {
    sluice = await startSluice({
      // A backup holds secrets, and is sealed.
      controlPlane: `  encryption: { key: ${Buffer.alloc(32, 7).toString('base64')} }\n`,
      // An address of its own: the listener of the examples has a fixed port.
      more: 'proxy: { workers: 1, bindAddress: 127.0.0.78 }',
    });
  });
  after(() => sluice.stop());

  const paths = async (): Promise<Paths> =>
    ((await call(sluice.url, 'GET', '/api/v1/docs/doc.json')).json as { readonly paths: Paths }).paths;

  /** Executes the operation as it stands, and returns its answer. */
  async function execute(id: string) {
    for (const [path, item] of Object.entries(await paths()))
      for (const [method, operation] of Object.entries(item)) {
        if (operation.operationId !== id) continue;
        const { parameters = [], requestBody } = operation;
        const target = path.replace(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(parameters.find((each) => each.name === name)?.example ?? `no example of ${name}`),
        );
        const [content] = Object.values(requestBody?.content ?? {});
        const [example] = Object.values(content?.examples ?? {});
        const body = example === undefined ? {} : { body: example.value };
        done.add(id);
        return await call(sluice.url, method.toUpperCase(), `/api/v1${target}`, body);
      }
    throw new Error(`there is no operation ${id}`);
  }
  const works = async (id: string): Promise<void> => {
    const { status, text } = await execute(id);
    expect(status, `${id} ${text}`).to.be.within(200, 299);
  };

  for (const id of story) it(`work as they stand: ${id}`, () => works(id));

  it('work as they stand for a confirmation, a rollout and the way back', async () => {
    const capture = async (name: string): Promise<string> => {
      const { json } = await call(sluice.url, 'POST', '/api/v1/snapshots', { body: { name } });
      return (json as { readonly id: string }).id;
    };
    const port = await freePort();
    const listener = { id: 'web', name: 'web', address: '127.0.0.1', port };
    await call(sluice.url, 'PUT', '/api/v1/listeners/web', { body: listener });
    const second = await capture('second');
    await call(sluice.url, 'POST', `/api/v1/snapshots/${second}/activate?confirmWithin=5m`, {});
    await works('confirmSnapshot');
    await call(sluice.url, 'PUT', '/api/v1/listeners/web', { body: { ...listener, serverName: 'third' } });
    await capture('third');
    await works('startRollout');
    for (const id of ['listRollouts', 'getRollout', 'pauseRollout', 'resumeRollout', 'abortRollout']) await works(id);
    await eventually(async () => expect((await execute('startRollout')).status).to.be.within(200, 299));
    await works('promoteRollout');
    await eventually(async () => {
      const { json } = await execute('getRollout');
      expect((json as { readonly state: string }).state).to.not.equal('running');
    });
    await works('rollBack');
    await capture('fourth');
    await works('deleteSnapshot');
  });

  it('work as they stand for deletions', async () => {
    for (const noun of nouns) await works(`delete${noun}`);
  });

  it('are there for each operation that one node takes', async () => {
    const all = Object.values(await paths()).flatMap((item) => Object.values(item));
    const left = all.filter(({ operationId, tags }) => {
      if (tags.some((tag) => internal.has(tag)) || streams.has(operationId)) return false;
      return !done.has(operationId) && refused[operationId] === undefined;
    });
    expect(left.map(({ operationId }) => operationId)).to.deep.equal([]);
    const without = all.filter(({ tags, requestBody, parameters = [] }) => {
      if (tags.some((tag) => internal.has(tag))) return false;
      const bodies = Object.values(requestBody?.content ?? {});
      const hasBody = requestBody?.required !== true || bodies.every(({ examples }) => examples !== undefined);
      return !hasBody || parameters.some((each) => each.in === 'path' && each.example === undefined);
    });
    expect(without.map(({ operationId }) => operationId)).to.deep.equal([]);
  });
});
