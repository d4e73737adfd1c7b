// Renderings of the Helm chart beside the API server's own OpenAPI schemas, closed: an unknown or misplaced field is a fault
// there. Stored renderings are those of the chart (chart.test.ts).
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { python } from '../support/foreign-program.ts';
import { needs } from '../support/needs.ts';
import { newFolder } from '../support/sluice-process.ts';

const validator = join(python, '../kubernetes-validate');
const folder = join(import.meta.dirname, 'chart');
const renderings = globSync('*.rendered.txt', { cwd: folder }).sort();

/** Kinds of others' definitions, which no API server brings. */
const foreign = new Set(['PodMonitor']);

/** Version that the chart asks for at least, and the newest that the validator knows. */
const [, oldest = ''] =
  /^kubeVersion: ">=(\d+\.\d+)/m.exec(
    readFileSync(join(import.meta.dirname, '../../deploy/helm/sluice/Chart.yaml'), 'utf8'),
  ) ?? [];
const versions = [oldest, '1.37'];

function validated(version: string, file: string) {
  const { status, stdout, stderr } = spawnSync(validator, ['-k', version, '--strict', file], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

const kindsOf = (file: string) =>
  parseAllDocuments(readFileSync(file, 'utf8'))
    .flatMap((document) => (document.toJS() as { kind: string } | null)?.kind ?? [])
    .filter((kind) => !foreign.has(kind));

describe("the Helm chart beside Kubernetes' schemas", () => {
  before(function () {
    needs(this, validator);
  });

  for (const name of renderings)
    it(`has no fault in ${name.replace('.rendered.txt', '')}, resource by resource`, () => {
      const file = join(folder, name);
      for (const version of versions) {
        const { status, said } = validated(version, file);
        expect(status, said).to.equal(0);
        expect(said.match(/passed for resource/g), said).to.have.length(kindsOf(file).length);
      }
    });

  const faults: Readonly<Record<string, (text: string) => string>> = {
    'a field that does not exist': (text) => text.replace('serviceName:', 'serviceNam:'),
    'a number in place of a text': (text) => text.replace('type: ClusterIP', 'type: 7'),
  };
  for (const [fault, plant] of Object.entries(faults))
    it(`would show ${fault}`, () => {
      const text = readFileSync(join(folder, 'default.rendered.txt'), 'utf8');
      const file = join(newFolder(), 'faulty.yaml');
      writeFileSync(file, plant(text));
      expect(plant(text)).to.not.equal(text);
      for (const version of versions) expect(validated(version, file).status).to.not.equal(0);
    });
});
