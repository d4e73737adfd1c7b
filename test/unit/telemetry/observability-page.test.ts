// docs/observability.md and deploy/observability against the code: every family is on the page, every name that the page, the
// dashboard or an alert uses is a family.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { raftMetrics } from '../../../src/cluster/members/raft-metrics.ts';
import { EventCounts } from '../../../src/control-plane-client/event-counts.ts';
import { proxyMetrics } from '../../../src/control-plane-client/proxy-metrics.ts';
import { ControllerMetrics } from '../../../src/controller/controller-metrics.ts';
import { FleetMetrics } from '../../../src/fleet/fleet-metrics.ts';
import { RolloutMetrics } from '../../../src/leader/rollout-metrics.ts';
import { families } from '../../../src/proxy/metrics/families.ts';
import { logVariableNames } from '../../../src/proxy/middleware/log-variables.ts';
import { ClientLoad } from '../../../src/proxy/shared/client-load.ts';
import { ApiMetrics } from '../../../src/telemetry/api-metrics.ts';
import { measureLoopLag } from '../../../src/telemetry/loop-lag.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { threadMetrics } from '../../../src/telemetry/thread-metrics.ts';
import { newVitalBytes, readVitals } from '../../../src/telemetry/thread-vitals.ts';
import { statusOfFour } from '../../support/cluster-of.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { familiesOf } from '../../support/metric-lines.ts';

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const page = read('docs/observability.md');
const dashboard = read('deploy/observability/dashboard.json');
const alerts = read('deploy/observability/alerts.yml');

async function familiesInCode(): Promise<string[]> {
  const transport = { wrongCluster: 0, wrongIdentity: 0, malformed: 0, refused: 0, unsendable: 0 };
  const status = { ...statusOfFour, transport };
  const clock = new ManualClock();
  const metrics = new Metrics();
  measureLoopLag(metrics, clock);
  new FleetMetrics(metrics.registry, () => ({}));
  new ApiMetrics(metrics.registry, {
    streams: () => ({}),
    entities: () => ({}),
    published: () => 0,
    recent: () => ({ seen: 0, kept: 0 }),
  });
  metrics.include(async () => raftMetrics({ status, failed: undefined, nowMs: 0 }));
  metrics.include(async () => new RolloutMetrics({ rollouts: [] }).registry);
  metrics.include(async () => threadMetrics([{ thread: 'main', vitals: readVitals(newVitalBytes()) }]));
  const source = { installed: undefined, stream: undefined };
  const keeper = { ageSeconds: undefined };
  const upstreams = () => ({ stores: [], lostCopies: [], cookies: {} });
  const clients = () => new ClientLoad(ClientLoad.memory(1), 0).figures();
  const leases = () => ({ held: 1, isInContact: true, budgets: 1 });
  const counts = new EventCounts();
  const lostLines = () => ({ process: 0, access: 0 });
  const surroundings = { listeners: () => [], certificates: () => [], directories: [], lostLines };
  const ofProxy = proxyMetrics({
    source,
    keeper,
    counts,
    threads: () => [],
    upstreams,
    clients,
    leases,
    surroundings,
    clock,
  });
  const controller = new ControllerMetrics({
    isLeading: () => true,
    entities: () => 0,
    isReady: () => true,
    lostWatches: () => 0,
  });
  const texts = [(await metrics.exposition()).text, (await ofProxy()).text, await controller.registry.metrics()];
  const own = texts.flatMap(familiesOf).filter((name) => name.startsWith('sluice_'));
  return [...new Set([...own, ...families.map(({ name }) => name)])].sort();
}

/** Names in a text; parts of histograms are those. */
const namesIn = (text: string): string[] => {
  const names = text.match(/\bsluice_[a-z0-9_]*[a-z0-9]/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))].sort();
};

describe('the page about what happened', () => {
  it('has every family that there is, and no other', async () => {
    expect(namesIn(page)).to.deep.equal(await familiesInCode());
  });

  it('has the type and the labels of the families of a listener', () => {
    for (const { name, type } of families) expect(page).to.contain(`| \`${name}\` | ${type} |`);
  });

  it('has every variable of access logs, and no other', () => {
    const section = page.slice(page.indexOf('## Variables of access logs'), page.indexOf('## Five questions'));
    const named = [...section.matchAll(/\$\{([a-zA-Z.]+)\}/g)].map(([, name = '']) => name);
    const known = [...logVariableNames, 'request.header.NAME', 'response.header.NAME', 'consumer.labels.NAME'];
    expect(named.sort()).to.deep.equal(known.sort());
  });

  it('and the dashboard and the alerts ask for nothing that does not exist', async () => {
    const known = await familiesInCode();
    for (const text of [dashboard, alerts]) {
      expect(namesIn(text)).not.to.have.length(0);
      expect(namesIn(text).filter((name) => !known.includes(name))).to.deep.equal([]);
    }
    for (const { name } of families) expect(namesIn(dashboard), name).to.include(name);
  });
});
