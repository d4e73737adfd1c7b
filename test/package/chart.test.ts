// The Helm chart: renderings beside stored ones, and the settings in them judged by the program itself. With
// SLUICE_RENDER=1 the stored ones are written anew.
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { parseSettings } from '../../src/settings/settings.ts';
import { needs } from '../support/needs.ts';

const helm = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice/helm');
const chart = join(import.meta.dirname, '../../deploy/helm/sluice');
const sets = globSync('*.values.yaml', { cwd: join(import.meta.dirname, 'chart') }).sort();
const fileOf = (name: string) => join(import.meta.dirname, 'chart', name);

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly automountServiceAccountToken: boolean;
  readonly containers: readonly {
    readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly capabilities: { drop: string[] } };
    readonly lifecycle?: object;
    readonly ports?: readonly { readonly name: string }[];
  }[];
}

const template = (values: string) =>
  execFileSync(helm, ['template', 'edge', chart, '--namespace', 'web', '--values', fileOf(values)], {
    encoding: 'utf8',
  })
    // Keys are made at random.
    .replace(/^( {2}(?:[a-z]+-key|cluster-token): ).+$/gm, '$1RANDOM');

const resourcesOf = (text: string) =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null);

describe('the Helm chart', () => {
  before(function () {
    needs(this, helm);
  });

  it('is free of faults that helm lint knows', () => {
    const { status, stdout } = spawnSync(helm, ['lint', '--strict', chart], { encoding: 'utf8' });
    expect(status, stdout).to.equal(0);
  });

  it('is rendered for twelve sets of values', () => expect(sets).to.have.length(12));

  for (const set of sets) {
    const name = set.replace('.values.yaml', '');

    it(`renders ${name} as it is stored`, () => {
      const rendered = template(set);
      if (process.env.SLUICE_RENDER !== undefined) writeFileSync(fileOf(`${name}.rendered.txt`), rendered);
      expect(rendered).to.equal(readFileSync(fileOf(`${name}.rendered.txt`), 'utf8'));
    });

    it(`gives the pods of ${name} settings that the program takes, and no right too many`, () => {
      const resources = resourcesOf(template(set));
      const nodes = resources.find(({ kind }) => kind === 'StatefulSet');
      const env = Object.fromEntries(
        ['ADMIN_KEY', 'PROXY_KEY', 'VIEWER_KEY', 'CLUSTER_TOKEN'].map((key) => [
          `SLUICE_${key}`,
          `${key}-0123456789abcdef`,
        ]),
      );
      const all = {
        ...env,
        SLUICE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        POD_NAME: `${nodes?.metadata.name}-0`,
      };
      const settings = resources.flatMap(({ kind, data }) => (kind === 'ConfigMap' ? Object.entries(data ?? {}) : []));
      expect(settings).to.not.be.empty;
      for (const [file, text] of settings) {
        const parsed = parseSettings(text, all);
        expect(parsed.mode, file).to.equal(file === 'proxy.yaml' ? 'proxy' : 'controlplane');
        expect(parsed.warnings).to.deep.equal([]);
      }
      const pods = resources.flatMap(({ spec }) => spec?.template?.spec ?? []);
      for (const { securityContext, containers, automountServiceAccountToken } of pods) {
        expect(securityContext.runAsNonRoot).to.equal(true);
        const serves = containers.some(({ ports }) => ports !== undefined);
        expect(automountServiceAccountToken).to.equal(serves && name === 'discovery');
        for (const container of containers) {
          expect(container.securityContext.readOnlyRootFilesystem).to.equal(true);
          expect(container.securityContext.capabilities.drop).to.deep.equal(['ALL']);
          // A pod that serves goes on while a load balancer takes it out.
          expect(container.lifecycle !== undefined).to.equal(serves);
        }
      }
    });
  }

  const refused: Readonly<Record<string, string>> = {
    'controlPlane.replicas=2': '/controlPlane/replicas',
    'proxy.kind=Pod': '/proxy/kind',
    'controlPlan.replicas=3': 'controlPlan',
    'ports[0].targetPort=80': '/ports/0/targetPort',
  };
  for (const [set, place] of Object.entries(refused))
    it(`refuses ${set}`, () => {
      const { status, stderr } = spawnSync(helm, ['template', 'edge', chart, '--set', set], { encoding: 'utf8' });
      expect(status).to.not.equal(0);
      expect(stderr).to.contain(place);
    });
});
