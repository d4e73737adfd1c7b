// `npm run gateway-api -- FOLDER`: writes src/controller/gateway-api/ from the CRDs of the Gateway API in a folder, for
// instance config/crd/standard of the Go module sigs.k8s.io/gateway-api at the version that test/kubernetes/go.mod pins.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const out = 'src/controller/gateway-api';
const wanted = new Map([
  ['GatewayClass', 'gateway-class'],
  ['Gateway', 'gateway'],
  ['ListenerSet', 'listener-set'],
  ['HTTPRoute', 'http-route'],
  ['GRPCRoute', 'grpc-route'],
  ['TLSRoute', 'tls-route'],
  ['TCPRoute', 'tcp-route'],
  ['BackendTLSPolicy', 'backend-tls-policy'],
  ['ReferenceGrant', 'reference-grant'],
]);

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('gateway-api-types: name the folder of the CRDs');
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const files = readdirSync(folder).filter((each) => each.endsWith('.yaml'));
for (const document of files.flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))) {
  const crd = document.toJS();
  if (crd.kind !== 'CustomResourceDefinition') continue;
  const file = wanted.get(crd.spec?.names?.kind);
  if (file === undefined) continue;
  const { names, versions, group } = crd.spec;
  const version = versions.find(({ storage }) => storage);
  const release = crd.metadata.annotations['gateway.networking.k8s.io/bundle-version'];
  const { spec, status } = version.schema.openAPIV3Schema.properties;
  const lines = [
    `// ${names.kind} of ${group}/${version.name}, Gateway API ${release}. Written by scripts/gateway-api-types.mjs.`,
    "import type { KubernetesObject } from '../../kubernetes/objects.ts';",
    '',
    `export interface ${names.kind} extends KubernetesObject {`,
    `readonly spec: ${typeOf(spec)};`,
    ...(status === undefined ? [] : [`readonly status?: ${typeOf(status)};`]),
    '}',
    '',
  ];
  writeFileSync(join(out, `${file}.ts`), lines.join('\n'));
}

function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const item = typeOf(schema.items);
      return item.includes('|') ? `readonly (${item})[]` : `readonly ${item}[]`;
    }
    case 'object': {
      if (schema.additionalProperties !== undefined)
        return `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`;
      const required = new Set(schema.required ?? []);
      // A default is filled in by the API server.
      const present = (name, property) => required.has(name) || property.default !== undefined;
      const fields = Object.entries(schema.properties ?? {}).map(
        ([name, property]) => `readonly ${name}${present(name, property) ? '' : '?'}: ${typeOf(property)};`,
      );
      return `{ ${fields.join('\n')} }`;
    }
    default:
      return schema['x-kubernetes-int-or-string'] ? 'number | string' : 'unknown';
  }
}
