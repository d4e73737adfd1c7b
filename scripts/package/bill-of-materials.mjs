// Bill of materials of an executable (CycloneDX 1.6) and provenance (in-toto Statement v1, SLSA provenance v1).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeVersion } from './targets.mjs';

/** Returns the bill of materials: packages that the bundler put in, and Node with what Node is made of. */
export function billOfMaterials({ root, manifest, packages, parts }) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: manifest.builtAt,
      component: {
        type: 'application',
        'bom-ref': 'sluice',
        name: 'sluice',
        version: manifest.version,
        licenses: licenses('Apache-2.0'),
      },
    },
    components: [
      {
        type: 'platform',
        'bom-ref': 'node',
        name: 'node',
        version: nodeVersion,
        licenses: licenses('MIT'),
        components: Object.entries(parts)
          .filter(([name]) => name !== 'node')
          .map(([name, version]) => ({ type: 'library', 'bom-ref': `node/${name}`, name, version })),
      },
      ...packages.map((folder) => component(root, folder)),
    ],
    dependencies: [{ ref: 'sluice', dependsOn: ['node', ...packages.map((folder) => referenceOf(root, folder))] }],
  };
}

const licenses = (id) => [{ license: { id } }];

function component(root, folder) {
  const { name, version, license } = manifestAt(root, folder);
  const known =
    typeof license === 'string'
      ? { licenses: /[ (]/.test(license) ? [{ expression: license }] : licenses(license) }
      : {};
  const reference = referenceOf(root, folder);
  return { type: 'library', 'bom-ref': reference, name, version, purl: reference, ...known };
}

function referenceOf(root, folder) {
  const { name, version } = manifestAt(root, folder);
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

const manifestAt = (root, folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

/** Returns the statement of provenance about artefacts, by name and SHA-256. */
export const provenance = ({ subjects, manifest, targets, debianPackages }) => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: Object.entries(subjects).map(([name, sha256]) => ({ name, digest: { sha256 } })),
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {
    buildDefinition: {
      buildType: 'https://sluice.invalid/build/npm-run-package/v1',
      externalParameters: { targets },
      resolvedDependencies: [
        ...(manifest.commit ? [{ uri: 'git+sluice', digest: { gitCommit: manifest.commit } }] : []),
        { uri: `pkg:npm/node@${nodeVersion}` },
        ...debianPackages.map(({ name, version, architecture, sha256 }) => ({
          uri: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
          digest: { sha256 },
        })),
      ],
    },
    runDetails: {
      builder: { id: 'https://sluice.invalid/builders/local' },
      metadata: { finishedOn: manifest.builtAt },
    },
  },
});
