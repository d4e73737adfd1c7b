import { expect } from 'chai';
import { operations as declaredOperations } from '../../src/resources/operation.ts';
import { ApiServer } from '../support/api-server.ts';
import { faults, opened, type Schema } from '../support/openapi-schema.ts';
import { body, editableKinds } from '../support/resources.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security?: unknown;
  readonly parameters?: readonly { name: string; in: string; description?: string }[];
  readonly requestBody?: {
    readonly content: Record<string, { examples?: Record<string, { value: unknown }> }>;
  };
  readonly responses: Readonly<
    Record<string, { description: string; headers?: object; content?: Record<string, { schema: object }> }>
  >;
}

interface Document {
  readonly tags: readonly { name: string; description: string }[];
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly servers: readonly { url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { schemas: Readonly<Record<string, Schema>>; securitySchemes: object };
}

const methods = ['get', 'post', 'put', 'delete'] as const;

interface Discriminated {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
}

describe('OpenAPI document', () => {
  let api: ApiServer;
  let document: Document;
  let operations: [name: string, operation: Operation][];

  before(async () => {
    api = await ApiServer.start();
    document = (await api.call('GET', '/docs/doc.json')).json as Document;
    operations = Object.entries(document.paths).flatMap(([path, item]) =>
      methods.flatMap((method): [string, Operation][] => {
        const operation = item[method];
        return operation === undefined ? [] : [[`${method} ${path}`, operation]];
      }),
    );
  });

  after(() => api.stop());

  it('has its tags in the order of use, each with operations, and none for operations alone', () => {
    const names = document.tags.map(({ name }) => name);
    expect(names.slice(0, 3)).to.deep.equal(['listeners', 'destinations', 'routes']);
    expect(names.at(-1)).to.equal('sync');
    const used = new Set(operations.flatMap(([, operation]) => operation.tags));
    expect([...used]).to.have.members(names);
    for (const { description } of document.tags) expect(description).to.match(/\.$/);
  });

  it('has its title, version and server', () => {
    expect(document.openapi).to.match(/^3\./);
    expect(document.info).to.include({ title: 'Sluice API', version: '1.0' });
    expect(document.servers[0]?.url).to.equal('/api/v1');
  });

  it('has every declared operation at its path, as the document names it, and the documentation', () => {
    const expected = declaredOperations()
      .filter(({ answer }) => answer !== undefined)
      .map(({ id, method, path }) => `${id}: ${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(expected.length).to.be.above(100);
    expect(operations.map(([name, { operationId }]) => `${operationId}: ${name}`)).to.have.members([
      ...expected,
      'getExplorer: get /docs/',
      'getDocument: get /docs/doc.json',
    ]);
  });

  it('has operations that are served: another method of their path names theirs', async () => {
    for (const { id, method, path, answer } of declaredOperations()) {
      if (answer === undefined) continue;
      const { status, headers } = await api.call('PATCH', path.replaceAll(/:\w+/g, 'x'));
      expect(status, id).to.equal(405);
      expect(String(headers.allow).split(', '), id).to.include(method);
    }
  });

  it('gives each operation a name of its own, a summary, its security and its errors', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const [name, { operationId, summary, security, responses, parameters = [] }] of operations) {
      expect(operationId, name).to.match(/^[a-z][A-Za-z]+$/);
      expect(summary, name).to.match(/^[A-Z]/);
      for (const { description, in: place, name: parameter } of parameters)
        expect(description, `${name} ${place} ${parameter}`).to.be.a('string');
      if (/healthz|readyz/.test(name)) continue;
      const isBetweenNodes = /sync\/(raft|state-hash|fleet)/.test(name);
      const isOpen = name.includes('docs');
      const wanted = isOpen ? [] : isBetweenNodes ? [{}, { node: [] }] : [{ apiKey: [] }];
      expect(security, name).to.deep.equal(wanted);
      expect(Object.keys(responses), name).to.include.members(isOpen ? ['403'] : ['401', '403']);
      if (!name.includes('docs')) expect(responses, name).to.have.property('500');
    }
    expect(document.components.securitySchemes)
      .to.have.property('apiKey')
      .that.includes({ type: 'http', scheme: 'bearer' });
  });

  it('describes every error with the schema Error', () => {
    for (const [name, { responses }] of operations) {
      for (const [status, { content, description }] of Object.entries(responses)) {
        expect(description, `${name} ${status}`).to.not.equal('');
        if (Number(status) < 400) continue;
        expect(content?.['application/json']?.schema, `${name} ${status}`).to.deep.equal({
          $ref: '#/components/schemas/Error',
        });
      }
    }
  });

  it('has a body where one is sent, and the statuses of contract.md §3.3', () => {
    for (const kind of editableKinds) {
      const { post, put, delete: remove } = { ...document.paths[`/${kind}`], ...document.paths[`/${kind}/{id}`] };
      expect(post, kind).to.have.property('requestBody');
      expect(put, kind).to.have.property('requestBody');
      expect(remove, kind).to.not.have.property('requestBody');
      expect(Object.keys(post?.responses ?? {})).to.include.members(['201', '400', '409', '413', '422', '503', '504']);
      expect(Object.keys(put?.responses ?? {})).to.include.members(['200', '400', '404', '409', '412', '413', '503']);
      expect(Object.keys(remove?.responses ?? {})).to.include.members(['204', '404', '412', '503']);
    }
  });

  it('promises a revision of those deletions alone that are in the state', () => {
    const promising = Object.entries(document.paths).filter(
      ([, item]) => 'X-Sluice-Revision' in (item.delete?.responses['204']?.headers ?? {}),
    );
    const stored = [...editableKinds, 'snapshots', 'keys'].map((kind) => `/${kind}/{id}`);
    expect(promising.map(([path]) => path)).to.have.members(stored);
  });

  it('refers only to schemas that it has', () => {
    const missing = refsIn(document).filter((ref) => {
      const name = /^#\/components\/schemas\/([^/]+)$/.exec(ref)?.[1];
      return name === undefined || !(name in document.components.schemas);
    });
    expect(missing).to.deep.equal([]);
  });

  it('describes every field of every schema', () => {
    const silent = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { description }]) => (description ? [] : [`${name}.${field}`])),
    );
    expect(silent).to.deep.equal([]);
  });

  it('gives examples and defaults that fit their own schemas', () => {
    const { schemas } = document.components;
    const wrong = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, schema]) =>
        [schema.example, schema.default]
          .filter((value) => value !== undefined)
          .flatMap((value) => faults(schema, value, schemas, `${name}.${field}`)),
      ),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('describes the real answers of the API', async () => {
    const { schemas } = document.components;
    const answers: [path: string, schema: Schema][] = [
      ['/snapshots', { type: 'array', items: { $ref: 'SnapshotSummary' } }],
      ['/debug/config', { $ref: 'DebugConfig' }],
      ['/secrets', { type: 'array', items: { $ref: 'SecretSummary' } }],
      ['/routes/none', { $ref: 'Error' }],
      ['//healthz', { $ref: 'Health' }],
    ];
    for (const kind of editableKinds) {
      await api.call('POST', `/${kind}`, { body: body(kind, 'x', { id: 'x' }) });
      const noun = kind.slice(0, -1);
      answers.push([`/${kind}/x`, { $ref: noun.charAt(0).toUpperCase() + noun.slice(1) }]);
    }
    const created = await api.call('POST', '/snapshots', { body: { name: 's' } });
    expect(faults({ $ref: 'CreatedSnapshot' }, created.json, schemas)).to.deep.equal([]);
    answers.push([created.headers.location?.slice('/api/v1'.length) ?? '', { $ref: 'FullSnapshot' }]);
    for (const [path, schema] of answers) {
      const { json } = await api.call('GET', path);
      expect(faults(schema, json, schemas), path).to.deep.equal([]);
    }
  });

  it('says which ways to name a resource an operation of a batch does not take', async () => {
    const { schemas } = document.components;
    const [id, name, named] = ['x', 'n', { body: body('groups', 'n') }];
    const kind = 'groups';
    const operations: [fits: boolean, operation: object][] = [
      [true, { op: 'delete', kind, id }],
      [true, { op: 'delete', kind, by: 'name', name }],
      [false, { op: 'delete', kind, id, name }],
      [false, { op: 'delete', kind, by: 'name', id, name }],
      [true, { op: 'update', kind, by: 'name', ...named }],
      [false, { op: 'update', kind, by: 'name', id, ...named }],
      [true, { op: 'upsert', kind, by: 'name', id, ...named }],
    ];
    for (const [fits, operation] of operations) {
      const text = JSON.stringify(operation);
      expect(faults({ $ref: 'BatchOperation' }, operation, opened(schemas)).length === 0, text).to.equal(fits);
      const { status } = await api.call('POST', '/batch?dryRun=true', { body: { operations: [operation] } });
      expect(status === 400, text).to.equal(!fits);
    }
  });

  it('is one that generators of clients make types of: alternatives are parts, objects have no default', () => {
    const { schemas } = document.components;
    const beside = Object.entries(schemas).filter(
      ([, { properties, oneOf, anyOf }]) => properties !== undefined && (oneOf ?? anyOf) !== undefined,
    );
    expect(beside.map(([name]) => name)).to.deep.equal([]);
    const withDefault = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { default: value, allOf }]) =>
        value === undefined || allOf?.[0]?.$ref === undefined ? [] : [`${name}.${field}`],
      ),
    );
    expect(withDefault).to.deep.equal([]);
    const routes = [
      [true, { name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
      [false, { name: 'r', forward: { destinations: [{ destinationId: 'd' }] }, directResponse: { status: 200 } }],
      [false, { name: 'r' }],
    ] as const;
    for (const [fits, route] of routes)
      expect(faults({ $ref: 'Route' }, route, schemas).length === 0, JSON.stringify(route)).to.equal(fits);
  });

  it('tells batch operations, outcomes and effects apart by a property with one word each', () => {
    const { schemas } = document.components;
    const found: [property: string, words: string[]][] = [];
    JSON.stringify(document, (_key, part: unknown) => {
      if (typeof part !== 'object' || part === null || !('discriminator' in part)) return part;
      const { oneOf, discriminator } = part as Discriminated;
      const { propertyName, mapping } = discriminator;
      found.push([propertyName, Object.keys(mapping)]);
      expect(oneOf.map(({ $ref }) => $ref)).to.deep.equal(Object.values(mapping));
      for (const [word, reference] of Object.entries(mapping)) {
        const { required, properties } = schemas[reference.replace('#/components/schemas/', '')] ?? {};
        expect(required, reference).to.include(propertyName);
        expect(properties?.[propertyName]?.enum, reference).to.deep.equal([word]);
      }
      return part;
    });
    expect(found).to.deep.include(['kind', [...editableKinds]]);
    expect(found).to.deep.include(['kind', ['passes', 'answers', 'unknown']]);
    expect(found).to.deep.include(['action', ['forward', 'redirect', 'directResponse', 'middleware', 'error']]);
    expect(found).to.deep.include(['action', ['stream', 'close']]);
    expect(schemas.RouteOperation?.properties?.body?.allOf).to.deep.equal([{ $ref: '#/components/schemas/Route' }]);
  });

  it('describes explanations down to the endpoint and the upstream', async () => {
    const { schemas } = document.components;
    const [id, path] = ['explained', '/explained'];
    const destination = { id, name: id, host: '127.0.0.1', port: 1 };
    const route = { id, name: id, match: { path }, forward: { destinations: [{ destinationId: id }] } };
    const fixed = { name: 'fixed', match: { path: '/fixed' }, directResponse: { status: 204 } };
    for (const [kind, resource] of [
      ['destinations', destination],
      ['routes', route],
      ['routes', fixed],
    ] as const)
      expect(await api.call('POST', `/${kind}`, { body: resource })).to.include({ status: 201 });
    for (const [url, action] of [
      [path, 'forward'],
      ['/fixed', 'directResponse'],
    ]) {
      const { json } = await api.call('POST', '/explain', { body: { url, snapshot: 'staged' } });
      expect(faults({ $ref: 'Explanation' }, json, schemas), url).to.deep.equal([]);
      expect(json).to.have.nested.property('outcome.action', action);
      const outcome = { ...(json as { readonly outcome: object }).outcome, action: 'close' };
      expect(faults({ $ref: 'Explanation' }, { ...(json as object), outcome }, schemas), url).to.not.deep.equal([]);
    }
  });

  it('describes blocks that are not chosen, which are answered as they were sent', async () => {
    const idle = {
      destinations: { options: { endpointBalancing: { ringHash: { hashPolicy: [{}], ringSize: { min: 0 } } } } },
      middlewares: { type: 'cors', jwt: { claimToHeaders: [{}] }, accessLog: { onRequest: { fields: { a: '' } } } },
      routes: {
        forward: { destinations: [{ destinationId: 'd' }], destinationBalancing: { sticky: { cookie: { ttl: 'x' } } } },
      },
    };
    const { schemas } = document.components;
    const written: string[] = [];
    for (const [kind, fields] of Object.entries(idle)) {
      const sent = { ...(kind === 'destinations' ? body(kind, 'idle') : { name: 'idle' }), ...fields };
      const { status, json, text, headers } = await api.call('POST', `/${kind}`, { body: sent });
      expect(status, text).to.equal(201);
      expect(json, kind).to.deep.include(fields);
      written.push(headers.location?.slice('/api/v1'.length) ?? '');
    }
    const { json } = await api.call('GET', '/debug/config');
    expect(faults({ $ref: 'DebugConfig' }, json, schemas)).to.deep.equal([]);
    const captured = await api.call('POST', '/snapshots', { body: { name: 'idle' } });
    expect(faults({ $ref: 'CreatedSnapshot' }, captured.json, schemas)).to.deep.equal([]);
    for (const path of written) await api.call('DELETE', path);
  });

  it('fills in bodies that are accepted as they stand, one after the other', async () => {
    for (const kind of editableKinds) {
      for (const operation of [document.paths[`/${kind}`]?.post, document.paths[`/${kind}/{id}`]?.put]) {
        const examples = Object.values(operation?.requestBody?.content['application/json']?.examples ?? {});
        expect(examples, kind).to.have.length(1);
        const sent = examples[0]?.value as { id: string };
        const { status, json } = await (operation?.operationId.startsWith('create')
          ? api.call('POST', `/${kind}`, { body: sent })
          : api.call('PUT', `/${kind}/${sent.id}`, { body: sent }));
        expect([200, 201], `${kind} ${JSON.stringify(json)}`).to.include(status);
      }
    }
    const { json } = await api.call('POST', '/snapshots?strict=true', { body: { name: 'examples' } });
    expect(json).to.deep.include({ warnings: [] });
  });

  it('fills in no condition and no idempotency key, which would refuse the second try', () => {
    for (const [name, { parameters = [] }] of operations)
      for (const parameter of parameters)
        if (parameter.in === 'header') expect(parameter, name).to.not.have.property('example');
  });

  it('names no snapshot where the API has keys, for it opens without one', async () => {
    const key = 'a-key-of-an-admin';
    const guarded = await ApiServer.start({ options: { apiKeys: [{ name: 'ops', key, role: 'admin' }] } });
    try {
      const { json } = await guarded.call('POST', '/snapshots', { key, body: { name: 'kept to itself' } });
      const { id } = json as { readonly id: string };
      const [mine, theirs] = [await api.call('GET', '/docs/doc.json'), await guarded.call('GET', '/docs/doc.json')];
      expect(theirs.status).to.equal(200);
      expect(theirs.text).to.not.contain(id).and.not.contain('{{live:');
      const { json: listed } = await api.call('GET', '/snapshots');
      expect(mine.text).to.contain((listed as { readonly id: string }[]).at(-1)?.id ?? 'a snapshot');
    } finally {
      await guarded.stop();
    }
  });

  it('has a schema per kind, by its own name', () => {
    expect(Object.keys(document.components.schemas)).to.include.members([
      'Listener',
      'Destination',
      'Route',
      'Group',
      'Middleware',
      'Secret',
    ]);
  });
});

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === '$ref' && typeof part === 'string' ? [part] : refsIn(part),
  );
}
