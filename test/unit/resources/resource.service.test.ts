import { expect } from 'chai';
import type { ReplicatedLog } from '../../../src/cluster/log/replicated-log.ts';
import { SluiceError } from '../../../src/errors.ts';
import { noChecks } from '../../../src/resources/node-checks.ts';
import { ResourceService } from '../../../src/resources/resource.service.ts';
import { StateReader } from '../../../src/resources/state-reader.ts';
import { thisMachine } from '../../../src/snapshot/machine.ts';
import { createSecretSources, missingFor } from '../../../src/snapshot/secret-sources.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { CurrentView } from '../../../src/state/current-view.ts';
import type { StateView } from '../../../src/state/view.ts';
import { apiRequest } from '../../support/api-request.ts';
import { type NodeOfOne, nodeOfOne } from '../../support/node-of-one.ts';
import { rejection } from '../../support/rejection.ts';

const sources = createSecretSources({ ...thisMachine, env: {} }, {}, { read: async () => missingFor('no bodies') });

describe('resource service', () => {
  let node: NodeOfOne;
  let resources: ResourceService;

  const serviceOver = (view: StateView, log: ReplicatedLog): ResourceService =>
    new ResourceService({
      reader: new StateReader({ view, log }),
      log,
      node: noChecks,
      newId: () => 'made-up',
      sources,
    });

  beforeEach(async () => {
    node = await nodeOfOne();
    resources = serviceOver(node.state.view, node.log);
  });

  afterEach(() => node.close());

  const create = (body: object, more: Parameters<typeof apiRequest>[0] = {}) =>
    resources.create('groups', apiRequest({ body, ...more }));

  it('puts the id first and assigns one when the body has none', async () => {
    const { body, headers } = await create({ name: 'g' });
    expect(body).to.match(/^\{"id":"made-up",/);
    expect(headers).to.include({ Location: '/api/v1/groups/made-up' });
  });

  it('answers a list from the stored texts', async () => {
    await create({ id: 'b', name: 'b' });
    await create({ id: 'a', name: 'a' });
    const { body } = await resources.list('groups', apiRequest());
    const [a, b] = node.state.view.list('groups');
    expect(body).to.equal(`[${a?.json},${b?.json}]`);
  });

  it('escapes an id in the path of a created resource', async () => {
    const { headers } = await create({ id: 'k8s:a~b', name: 'g' });
    expect(headers).to.include({ Location: '/api/v1/groups/k8s%3Aa~b' });
  });

  it('replays what was created even after the resource is gone', async () => {
    const repeat = { headers: { 'idempotency-key': 'k' } };
    const first = await create({ name: 'g' }, repeat);
    await resources.remove('groups', 'made-up', apiRequest());
    expect(await create({ name: 'g' }, repeat)).to.deep.equal(first);
  });

  it('replays a secret as it was created, renamed or gone since, and never its value', async () => {
    const request = apiRequest({ body: { name: 's', value: 'CANARY' }, headers: { 'idempotency-key': 'k' } });
    const first = await resources.create('secrets', request);
    expect(first.body).to.equal('{"id":"made-up","name":"s"}');
    await resources.replace('secrets', 'made-up', apiRequest({ body: { name: 'other', value: 'x' } }));
    expect(await resources.create('secrets', request)).to.deep.equal(first);
    await resources.remove('secrets', 'made-up', apiRequest());
    expect(await resources.create('secrets', request)).to.deep.equal(first);
  });

  describe('on a node that lags behind', () => {
    let barriers: number;
    let lagging: ResourceService;

    // The view is another, empty state until the node is asked to catch up.
    beforeEach(async () => {
      await create({ id: 'g', name: 'g' });
      barriers = 0;
      const behind = new ConfigState();
      const now = (): StateView => (barriers === 0 ? behind : node.state.view);
      const view = new CurrentView(now);
      const log: ReplicatedLog = {
        propose: (draft) => node.log.propose(draft),
        appliedAtLeast: async () => {
          throw new SluiceError('UNAVAILABLE', 'not applied in time');
        },
        readBarrier: () => {
          barriers += 1;
          return node.log.readBarrier();
        },
      };
      lagging = serviceOver(view, log);
    });

    it('looks again after a barrier before it says that a resource does not exist', async () => {
      const { status } = await lagging.replace('groups', 'g', apiRequest({ body: { name: 'new' } }));
      expect({ status, barriers }).to.deep.equal({ status: 200, barriers: 1 });
      expect(await rejection(lagging.remove('groups', 'none', apiRequest()))).to.include({ code: 'NOT_FOUND' });
      expect(barriers).to.equal(2);
    });

    it('needs no barrier for a write to what is here', async () => {
      await lagging.replace('groups', 'g', apiRequest({ body: { name: 'new' } }));
      await lagging.remove('groups', 'g', apiRequest());
      expect(barriers).to.equal(1);
    });

    it('reads behind a barrier, unless a stale answer will do', async () => {
      const stale = apiRequest({ query: { consistency: 'stale' } });
      expect(await rejection(lagging.get('groups', 'g', stale))).to.include({ code: 'NOT_FOUND' });
      expect((await lagging.list('groups', stale)).body).to.equal('[]');
      expect(barriers).to.equal(0);
      expect(await lagging.get('groups', 'g', apiRequest())).to.include({ status: 200 });
    });

    it('does not answer a read below the revision that was asked for', async () => {
      const request = apiRequest({ query: { consistency: 'stale', minRevision: '1' } });
      expect(await rejection(lagging.get('groups', 'g', request))).to.include({ code: 'UNAVAILABLE' });
    });
  });

  it('passes on that the outcome of a write is unknown', async () => {
    const log: ReplicatedLog = {
      propose: async () => {
        throw new SluiceError('OUTCOME_UNKNOWN', 'not confirmed', { body: { requestId: 'n-1-1-1' } });
      },
      appliedAtLeast: (index, withinMs) => node.log.appliedAtLeast(index, withinMs),
      readBarrier: () => node.log.readBarrier(),
    };
    const request = apiRequest({ body: { name: 'g' } });
    const error = await rejection(serviceOver(node.state.view, log).create('groups', request));
    expect(error).to.deep.include({ code: 'OUTCOME_UNKNOWN', details: { body: { requestId: 'n-1-1-1' } } });
  });
});
