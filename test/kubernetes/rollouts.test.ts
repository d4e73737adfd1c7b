// Changes of a Gateway and of its routes that become active step by step, by the annotation sluice.dev/rollout.
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { ClusterBed, gateways, location, routes, type StatusOf } from './cluster-bed.ts';

interface Rollout {
  readonly state: string;
  readonly comment: string;
}

interface Edit {
  readonly id: string;
}

interface StagedDifference {
  readonly entities: Readonly<Record<'created' | 'changed' | 'deleted', readonly Edit[]>>;
}

describe('rollouts of Gateways', function () {
  this.timeout(240_000);
  let bed: ClusterBed;
  beforeEach(async function () {
    bed = await ClusterBed.openOrSkip(this);
    await bed.startSluice();
  });
  afterEach(() => bed?.close());

  const api = () => apiClient(bed.sluice?.url ?? '');
  const rollouts = async () => (await api().get<Rollout[]>('/rollouts')).body;
  const annotate = (namespace: string, rollout: string | object) =>
    bed.api.merge(`${gateways(namespace)}/web`, {
      metadata: {
        annotations: { 'sluice.dev/rollout': typeof rollout === 'string' ? rollout : JSON.stringify(rollout) },
      },
    });
  const quick = { minRequests: 0, checkInterval: '100ms' };

  async function served(name: string): Promise<string> {
    await bed.gatewayClass(name);
    const namespace = await bed.namespace(name);
    await bed.gateway(namespace, 'web', name);
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    await bed.startController();
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    return address;
  }

  it('end with the change active where every guard holds', async () => {
    const address = await served('steps');
    expect(await rollouts()).to.deep.equal([]);
    await annotate('steps', { ...quick, steps: [{ share: 50, hold: '300ms' }], guards: [] });
    await bed.redirect('steps', 'a', 'web', '/', 'b.example');
    await eventually(async () => {
      expect((await rollouts()).map(({ state, comment }) => [state, comment])).to.deep.equal([
        ['completed', 'rollout of sluice-controller'],
      ]);
    });
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
    await bed.api.delete(`${routes('steps')}/a`);
    await eventually(async () => {
      expect((await rollouts()).map(({ state }) => state)).to.deep.equal(['completed', 'completed']);
    });
    await eventually(async () => expect(await location(address)).to.equal(null));
  });

  it('leave a change out whose guard does not hold, until it or the annotation is different', async () => {
    const address = await served('guarded');
    const failing = { ...quick, steps: [{ share: 50, hold: '20s' }], guards: ['elapsed < 0.0'], failures: 1 };
    await annotate('guarded', failing);
    await bed.redirect('guarded', 'a', 'web', '/', 'b.example');
    await eventually(async () => {
      expect((await rollouts()).map(({ state }) => state)).to.deep.equal(['rolledBack']);
    });
    const accepted = async () => {
      const { status } = await bed.api.get<StatusOf>(`${routes('guarded')}/a`);
      const conditions = (status?.parents?.[0]?.conditions ?? []) as { type: string; message: string }[];
      return conditions.find(({ type }) => type === 'Accepted')?.message;
    };
    await eventually(async () => expect(await accepted()).to.contain('elapsed < 0.0 did not hold'));
    expect(await location(address)).to.equal('http://a.example/');
    const { body } = await api().get<StagedDifference>('/staged/diff');
    // The fence of the controller is rewritten when it begins anew, and changes nothing.
    const edits = Object.values(body.entities)
      .flat()
      .filter(({ id }) => !id.startsWith('controller:'));
    expect(edits, 'edits that are not live').to.deep.equal([]);
    expect(await rollouts()).to.have.length(1);
    await annotate('guarded', 'none');
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
    expect(await rollouts()).to.have.length(1);
    expect(await accepted()).to.equal('');
  });

  it('are not begun by an annotation that says nothing clear: changes wait, and statuses tell', async () => {
    const address = await served('unclear');
    await annotate('unclear', 'carefully');
    await bed.redirect('unclear', 'a', 'web', '/', 'b.example');
    await eventually(async () => {
      const { status } = await bed.api.get<StatusOf>(`${routes('unclear')}/a`);
      expect(JSON.stringify(status)).to.contain('must be progressive, none or a JSON object');
    });
    expect(await location(address)).to.equal('http://a.example/');
    await annotate('unclear', 'none');
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
  });

  it('go on under another controller when the leader is killed', async () => {
    await bed.gatewayClass('heir');
    const namespace = await bed.namespace('heir');
    await bed.gateway(namespace, 'web', 'heir');
    await bed.redirect(namespace, 'a', 'web', '/', 'a.example');
    const first = await bed.startController({ name: 'first', elects: true });
    const address = await bed.addressOf(namespace, 'web');
    await eventually(async () => expect(await location(address)).to.equal('http://a.example/'));
    await annotate(namespace, { ...quick, steps: [{ share: 1, hold: '8s' }], guards: [] });
    await bed.redirect(namespace, 'a', 'web', '/', 'b.example');
    await eventually(async () => expect((await rollouts()).map(({ state }) => state)).to.deep.equal(['running']));
    await first.stop('SIGKILL');
    await bed.startController({ name: 'second', elects: true });
    await eventually(async () => expect(await location(address)).to.equal('http://b.example/'));
    await annotate(namespace, 'none');
    await bed.redirect(namespace, 'a', 'web', '/', 'c.example');
    await eventually(async () => expect(await location(address)).to.equal('http://c.example/'));
    expect((await rollouts()).map(({ state }) => state)).to.deep.equal(['completed']);
  });
});
