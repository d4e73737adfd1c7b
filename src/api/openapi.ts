// The OpenAPI document: the operations as the controllers declare them, the schemas as src/model declares them, and
// what belongs to neither. Complete enough to generate a client from.
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { componentSchemas } from '../model/class-schema.ts';
import { withConstraints } from '../model/constraint.ts';
import { apiBase, documentPath, explorerPath } from './api-paths.ts';
import { tags } from './openapi-tags.ts';
import { fillExamples } from './operation-examples.ts';

type Paths = OpenAPIObject['paths'];

export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Sluice API')
    .setVersion('1.0')
    .setDescription(
      'Staged resources, snapshots of them, and their activation on every proxy.\n\n' +
        'To begin, send the examples of `POST /listeners`, `POST /destinations` and `POST /routes` as they stand: they are ' +
        'staged. `POST /snapshots` captures them, `POST /snapshots/{id}/activate` makes them live on every proxy, and ' +
        '`POST /rollback` goes back. `POST /explain` tells which route a request takes, before and after.\n\n' +
        'Bodies may be looser than their schemas say: `null`, and `""` for a text, stand for an optional field that is ' +
        'absent, as an empty query parameter does but for booleans, `limit` and `confirmWithin`; a text that holds `{{secret:…}}` is ' +
        'judged when a snapshot is created. What no schema can say is in the descriptions: a weight above 0, bounds ' +
        'in order, primes, expressions that compile, at most 20,000 keys of all objects of a body together (413). No field ' +
        'is called `__proto__`.',
    )
    .addServer(apiBase, 'This server')
    .addSecurity('apiKey', { type: 'http', scheme: 'bearer', description: 'Needed when API keys are configured.' })
    .addSecurity('node', {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description:
        'The proof of a node, made with the secret of its cluster, or none beside a certificate of the cluster.',
    })
    .build();
  const scanned = SwaggerModule.createDocument(app, config);
  const components = {
    ...scanned.components,
    schemas: {
      ...withConstraints(scanned.components?.schemas ?? {}),
      ...componentSchemas(),
    },
  };
  const paths = { ...relative(scanned.paths), ...documentation };
  fillExamples(paths);
  return { ...scanned, tags, paths, components };
}

/** Paths as seen from the server's URL, under which every operation is; bare aliases are left out. */
function relative(paths: Paths): Paths {
  const entries = Object.entries(paths).flatMap(([path, item]): [string, Paths[string]][] =>
    path.startsWith(`${apiBase}/`) ? [[path.slice(apiBase.length), item]] : [],
  );
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
const refusals = {
  403: { description: 'A web page of another origin asked.', content: error },
};

const documentation: Paths = {
  [explorerPath]: {
    get: {
      operationId: 'getExplorer',
      summary: 'Explore the API',
      tags: ['docs'],
      security: [],
      responses: {
        200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } },
        ...refusals,
      },
    },
  },
  [documentPath]: {
    get: {
      operationId: 'getDocument',
      summary: 'Read this document',
      tags: ['docs'],
      security: [],
      responses: {
        200: { description: 'OpenAPI 3.0.', content: { 'application/json': { schema: { type: 'object' } } } },
        ...refusals,
      },
    },
  },
};
