import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { parseSettings } from '../../../src/settings/settings.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly volumes: readonly string[];
}

const folder = new URL('../../../deploy/docker/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};
const { version } = JSON.parse(read('../../package.json')) as { version: string };

const keys = ['ADMIN_KEY', 'PROXY_KEY', 'VIEWER_KEY', 'CLUSTER_TOKEN'].map((name) => [
  `SLUICE_${name}`,
  `${name}-0123456789abcdef`,
]);

describe('the compose file', () => {
  it('has three nodes and two proxies of this version, whose settings the program takes', () => {
    const programs = Object.values(services).filter(({ image }) => image === `sluice:${version}`);
    const modes = programs.map(({ command, environment, read_only }) => {
      expect(read_only).to.equal(true);
      const file = command?.[1]?.replace('/etc/sluice/', '') ?? '';
      const { mode, warnings, controlPlane } = parseSettings(read(file), {
        ...environment,
        ...Object.fromEntries(keys),
      });
      expect(warnings).to.deep.equal([]);
      return mode === 'proxy' ? mode : controlPlane.raft?.nodeId;
    });
    expect(modes.sort()).to.deep.equal(['node-a', 'node-b', 'node-c', 'proxy', 'proxy']);
  });

  it('mounts files that are there and volumes that it declares', () => {
    for (const source of Object.values(services).flatMap((service) =>
      service.volumes.map((at) => at.split(':')[0] ?? ''),
    ))
      expect(source.startsWith('.') ? existsSync(new URL(source, folder)) : source in volumes, source).to.equal(true);
  });

  it('has settings of the image that are refused without a key', () => {
    expect(() => parseSettings(read('config.yaml'), {})).to.throw('controlPlane.auth.apiKeys[0].key is required');
    expect(parseSettings(read('config.yaml'), { SLUICE_API_KEY: 'k' }).warnings).to.deep.equal([]);
  });
});
