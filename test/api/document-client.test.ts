// A client that knows nothing of Sluice but its OpenAPI document: what the document allows is accepted, what it does not
// is refused, and every answer is one that the document names.
import { METHODS } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { ApiServer } from '../support/api-server.ts';
import { type Answer, call } from '../support/http-call.ts';
import { faults, opened, type Schema, type Schemas } from '../support/openapi-schema.ts';
import { editableKinds } from '../support/resources.ts';
import { type Json, type Spoilt, spoiltOf, valuesOf } from '../support/schema-values.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: 'path' | 'query' | 'header'; schema: Schema }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, { schema: Schema }> };
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: Schema }> }>>;
  /** Empty for operations without a key. */
  readonly security?: readonly object[];
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
}

const runs = Number(process.env.SLUICE_RUNS ?? 60);
const key = 'an admin key';

/** Refusals that depend on the state, or on what no schema says (see the description of the document). */
const beyondTheSchema: readonly RegExp[] = [
  /must have a weight above 0/,
  /must not be above the denominator/,
  /must be a prime/,
  /must be a duration from 1s to 24h/,
  /must not be given beside (limits|key)/,
  /mode needs protocol tcp|sni needs a listener with tls/,
  /must be at most \d+ bytes/,
  // Lines of htpasswd.
  /\/basicAuth\/users /,
  /must not be above max/,
  /must be above 0 and above the bound before it/,
  /must be a status or a range/,
  /must be a regular expression/,
  /must be a CEL expression/,
  /must not be empty/,
  /is named before|more than once|twice/,
  /must have shares that rise|must have share 100 last|must be 5s or more|must be 100ms or more/,
  /names no listener for HTTP of this configuration/,
  /section ".*" ha(s|ve) /,
  // What is staged by then, when a snapshot of it is asked for.
  /^\/(snapshot\/)?(listeners|destinations|routes|groups|middlewares|streamRoutes|consumers)\/[^/]+\//,
  // Hashes of passwords, and texts that only look like the hash of a key.
  /must be (the hash of a password|a key of)/,
  /\/credentials\/\d+ has the /,
];

describe('a client of the document alone', () => {
  let api: ApiServer;
  let document: Document;
  let schemas: Schemas;
  let bodies: (schema: Schema) => fc.Arbitrary<Json>;

  before(async () => {
    api = await ApiServer.start({ options: { apiKeys: [{ name: 'ops', key, role: 'admin' }] } });
    document = (await api.call('GET', '/docs/doc.json', { key })).json as Document;
    schemas = document.components.schemas;
    const operation = fc.oneof(...editableKinds.map(createOf));
    bodies = (schema) => valuesOf(schema, schemas, { BatchOperation: operation });
  });

  after(() => api.stop());

  /** Chance would not put the body of its kind into an operation. */
  const createOf = (kind: (typeof editableKinds)[number]): fc.Arbitrary<Json> => {
    const noun = kind.slice(0, -1);
    const body = valuesOf({ $ref: noun.charAt(0).toUpperCase() + noun.slice(1) }, schemas);
    return body.map((one): Json => ({ op: 'create', kind, body: one }));
  };

  const operationsOf = (): [method: string, path: string, operation: Operation][] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        // A stream never ends.
        .filter(([, { responses }]) => responses[200]?.content?.['text/event-stream'] === undefined)
        .map(([method, operation]): [string, string, Operation] => [method.toUpperCase(), path, operation]),
    );

  const targetOf = (path: string): string => `/api/v1${path.replaceAll(/\{\w+\}/g, 'none')}`;
  const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}): Promise<Answer> =>
    call(api.base, method, targetOf(path), { key, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });

  const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content['application/json']?.schema;

  /** The status is one that the document names, with a body of the schema it names. */
  const isDocumented = (name: string, { responses }: Operation, { status, headers, json, text }: Answer): void => {
    const response = responses[status];
    expect(response, `${name}: ${status} ${text.slice(0, 200)}`).to.not.equal(undefined);
    const schema = response?.content?.['application/json']?.schema;
    if (schema === undefined) return;
    expect(headers['content-type'], name).to.equal('application/json');
    expect(faults(schema, json, schemas), `${name}: ${status} ${text.slice(0, 200)}`).to.deep.equal([]);
  };

  it('is answered as documented everywhere, and 401 without a key where one is documented', async () => {
    for (const [method, path, operation] of operationsOf()) {
      const name = `${method} ${path}`;
      const answer = await send(method, path);
      isDocumented(name, operation, answer);
      if (operation.requestBody?.required === true) expect(answer.status, name).to.be.within(400, 503);
      if (/healthz|readyz/.test(path) || 'sync' === path.split('/')[1]) continue;
      const stranger = await call(api.base, method, targetOf(path));
      expect(stranger.status, name).to.equal(operation.security?.length === 0 ? 200 : 401);
      isDocumented(name, operation, stranger);
    }
  });

  it('is accepted with every body that the document allows, but for what no schema can say', async () => {
    const seen = { accepted: 0, refused: 0 };
    for (const [method, path, operation] of operationsOf()) {
      const schema = bodyOf(operation);
      if (schema === undefined || path.startsWith('/sync/')) continue;
      const name = `${method} ${path}`;
      await fc.assert(
        fc.asyncProperty(bodies(schema), fc.nat(), async (body, salt) => {
          const own = { ...(body as Record<string, Json>) };
          // Names and ids may be taken, which is another matter.
          if ('name' in own) own.name = `${own.name} ${salt} ${seen.accepted}`;
          if (method === 'POST') delete own.id;
          const answer = await send(method, path, own);
          isDocumented(name, operation, answer);
          if (answer.status < 300) seen.accepted += 1;
          else if (answer.status === 400) {
            seen.refused += 1;
            const { error } = answer.json as { error: string };
            for (const one of error.split('; '))
              expect(one, `${name} ${JSON.stringify(own)}`).to.satisfy((text: string) =>
                beyondTheSchema.some((rule) => rule.test(text)),
              );
          } else expect(answer.status, `${name}: ${answer.text}`).to.be.oneOf([404, 409, 412, 422]);
        }),
        { numRuns: runs, seed: 1 },
      );
    }
    expect(seen.accepted, `${seen.refused} were refused`).to.be.greaterThan(seen.refused * 2);
  });

  it('is refused with every body that the document does not allow', async () => {
    for (const [method, path, operation] of operationsOf()) {
      const schema = bodyOf(operation);
      if (schema === undefined || path.startsWith('/sync/')) continue;
      const name = `${method} ${path}`;
      const target = method === 'PUT' ? await existing(path) : path;
      const isIgnored = ({ path: at }: Spoilt): boolean => method === 'PUT' && at[0] === 'id';
      const spoilt = spoiltOf(schema, opened(schemas), bodies(schema)).filter((one) => !isIgnored(one));
      await fc.assert(
        fc.asyncProperty(spoilt, async ({ value, path: at }) => {
          const answer = await send(method, target, value);
          isDocumented(name, operation, answer);
          expect(answer.status, `${name} /${at.join('/')} ${JSON.stringify(value)}`).to.be.oneOf([400, 404, 413]);
        }),
        { numRuns: runs, seed: 1 },
      );
    }
  });

  /** Path with an id that exists: an unknown one is 404 before its body is read. */
  const existing = async (path: string): Promise<string> => {
    const kind = path.split('/')[1] ?? '';
    const { post } = document.paths[`/${kind}`] ?? {};
    if (post === undefined) return path;
    const examples = Object.values(
      (post?.requestBody?.content['application/json'] as { examples?: Record<string, { value: { id: string } }> })
        ?.examples ?? {},
    );
    const body = { ...examples[0]?.value, id: 'none', name: 'none' };
    expect(await send('POST', `/${kind}`, body)).to.include({ status: 201 });
    return path;
  };

  it('is refused with parameters and headers that the document does not allow, beyond each bound too', async () => {
    let wrong = 0;
    for (const [method, path, operation] of operationsOf()) {
      for (const { name, in: place, schema } of operation.parameters ?? [])
        for (const value of place === 'path' ? [] : wrongTexts(schema)) {
          const headers: Record<string, string> = place === 'header' ? { [name]: value } : {};
          const query = place === 'query' ? `?${name}=${encodeURIComponent(value)}` : '';
          const answer = await send(method, `${path}${query}`, undefined, headers);
          const asked = `${method} ${path} ${name} ${value.slice(0, 80)}`;
          isDocumented(asked, operation, answer);
          // Without an id in the path there is nothing that could be missing.
          if (method === 'GET' && !path.includes('{')) expect(answer.status, `${asked}: ${answer.text}`).to.equal(400);
          else expect(answer.status, asked).to.be.oneOf([400, 404, 409]);
          wrong += 1;
        }
    }
    expect(wrong).to.be.greaterThan(100);
  });

  it('learns from 405 which methods a path has, with any method it tries', async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const own = Object.keys(item).map((method) => method.toUpperCase());
      const allowed = [...own, ...(own.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
      for (const method of METHODS) {
        if (allowed.split(', ').includes(method) || method === 'CONNECT') continue;
        const answer = await send(method, path);
        expect(answer.status, `${method} ${path}`).to.equal(405);
        expect(answer.headers.allow, `${method} ${path}`).to.equal(allowed);
        if (method !== 'HEAD') expect(answer.json, `${method} ${path}`).to.have.all.keys('error');
        expect(await send(method, '/nothing'), `${method} /nothing`).to.include({ status: 404 });
      }
    }
  });

  it('learns at once that a revision does not exist, and which the last one is', async () => {
    const { headers } = await api.call('GET', '/groups', { key });
    const last = Number(headers['x-sluice-revision']);
    for (const consistency of ['linearizable', 'stale'])
      for (const beyond of [last + 1, 999_999_999_999_999]) {
        const answer = await api.call('GET', `/groups?minRevision=${beyond}&consistency=${consistency}`, { key });
        expect(answer, `${beyond}`).to.deep.include({
          status: 400,
          json: { error: `minRevision ${beyond} does not exist: the last revision is ${last}` },
        });
      }
  });
});

/** Texts that a parameter must not have: one beyond each bound of its schema. */
function wrongTexts(schema: Schema): string[] {
  const { type, enum: allowed, minimum, maximum, minLength = 0, maxLength, pattern, format } = schema;
  return [
    ...(allowed === undefined ? [] : ['perhaps']),
    ...(type === 'boolean' ? ['2', 'x'] : []),
    ...(type === 'integer' ? ['x', '1.5'] : []),
    ...(minimum === undefined ? [] : [String(minimum - 1)]),
    ...(maximum === undefined ? [] : [String(maximum + 1)]),
    ...(minLength > 0 ? [''] : []),
    ...(maxLength === undefined
      ? []
      : [format === 'cel' ? `route!='${'a'.repeat(maxLength - 8)}'` : 'a'.repeat(maxLength + 1)]),
    ...(pattern === undefined ? [] : ['no "list" of tags']),
    ...(format === 'date-time' ? ['yesterday'] : []),
  ];
}
