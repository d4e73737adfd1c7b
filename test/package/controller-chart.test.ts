// The charts of the controller: settings that it takes, rights that suffice and none too many, policies as CRDs.
import { execFileSync, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { parseControllerSettings } from '../../src/controller/controller-settings.ts';
import { needs } from '../support/needs.ts';

const helm = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice/helm');
const chartOf = (name: string): string => join(import.meta.dirname, '../../deploy/helm', name);
const given = ['--set', 'sluice.urls={http://a:8080,http://b:8080}', '--set', 'addressPool=10.0.0.0/24'];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly Rule[];
  readonly spec?: { readonly replicas?: number };
}

const rendered = (chart: string, ...args: readonly string[]): Resource[] =>
  parseAllDocuments(
    execFileSync(helm, ['template', 'edge', chartOf(chart), '--namespace', 'web', ...args], { encoding: 'utf8' }),
  )
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null);

const settingsIn = (resources: readonly Resource[], environment = {}) => {
  const text = resources.find(({ kind }) => kind === 'ConfigMap')?.data?.['controller.yaml'] ?? '';
  return parseControllerSettings(text, { POD_NAME: 'pod', POD_NAMESPACE: 'web', ...environment });
};

describe('the Helm chart of the controller', () => {
  before(function () {
    needs(this, helm);
  });

  it('is free of faults that helm lint knows', () => {
    for (const [chart, args] of [
      ['sluice-controller', given],
      ['sluice-controller-crds', []],
    ] as const) {
      const { status, stdout } = spawnSync(helm, ['lint', '--strict', chartOf(chart), ...args], { encoding: 'utf8' });
      expect(status, stdout).to.equal(0);
    }
  });

  it('gives settings that the program takes without a warning', () => {
    const { sluice, election, controller, warnings } = settingsIn(rendered('sluice-controller', ...given));
    expect(sluice.urls).to.deep.equal(['http://a:8080', 'http://b:8080']);
    expect(election).to.include({ namespace: 'web', name: 'edge-sluice-controller' });
    expect(controller.owner).to.equal('edge-sluice-controller');
    expect(warnings).to.deep.equal([]);
  });

  it('takes the key from a secret, and further settings over its own', () => {
    const more = ['--set', 'sluice.keySecret.name=keys', '--set', 'settings.clusterDomain=corp.local'];
    const resources = rendered('sluice-controller', ...given, ...more);
    const { sluice, controller } = settingsIn(resources, { SLUICE_API_KEY: 'k' });
    expect(sluice.apiKey).to.equal('k');
    expect(controller.clusterDomain).to.equal('corp.local');
  });

  it('takes the Service of the proxies in the place of a pool, and not both', () => {
    const service = ['--set', 'service=web/edge-sluice'];
    const { controller } = settingsIn(rendered('sluice-controller', ...given.slice(0, 2), ...service));
    expect(controller.service).to.deep.equal({ namespace: 'web', name: 'edge-sluice' });
    const args = ['template', 'edge', chartOf('sluice-controller'), ...given, ...service];
    expect(spawnSync(helm, args).status).to.not.equal(0);
  });

  it('has no right to everything, none to write Secrets, and leases by name', () => {
    const resources = rendered('sluice-controller', ...given);
    const rules = resources.flatMap((resource) => resource.rules ?? []);
    const all = rules.flatMap(({ apiGroups, resources: names, verbs }) => [...apiGroups, ...names, ...verbs]);
    expect(all).to.not.include('*');
    const ofSecrets = rules.filter(({ resources: names }) => names.includes('secrets')).flatMap(({ verbs }) => verbs);
    expect(ofSecrets).to.have.members(['list', 'watch']);
    const ofLeases = resources.find(({ kind }) => kind === 'Role')?.rules ?? [];
    expect(ofLeases.at(-1)).to.deep.include({ resourceNames: ['edge-sluice-controller'], verbs: ['get', 'update'] });
  });

  it('is refused without a way to Sluice or addresses', () => {
    for (const args of [given.slice(0, 2), given.slice(2)]) {
      const { status } = spawnSync(helm, ['template', 'edge', chartOf('sluice-controller'), ...args]);
      expect(status).to.not.equal(0);
    }
  });

  it('installs policies of group sluice.dev alone', () => {
    const names = rendered('sluice-controller-crds').map(({ metadata }) => metadata.name);
    expect(names.sort()).to.deep.equal(['middlewares.sluice.dev', 'upstreampolicies.sluice.dev']);
  });
});
