// Places where a misspelling would open what should be closed (architecture.md §6.10).
import { expect } from 'chai';
import { parseEntity } from '../../../src/model/validation.ts';
import { modelSchemas } from '../../support/openapi-document.ts';

const direct = { directResponse: { status: 200 } };
const middleware = (more: object) => ({ name: 'm', type: 'rateLimit', rateLimit: { requests: 1, per: '1s' }, ...more });

describe('unknown fields', () => {
  it('inside match, middlewareOverrides and middlewares are problems', () => {
    const rows: readonly [kind: 'routes' | 'groups' | 'middlewares', body: object, pointer: string][] = [
      ['routes', { name: 'r', ...direct, match: { pathPrefx: '/admin' } }, '/match/pathPrefx'],
      ['routes', { name: 'r', ...direct, match: { headers: [{ name: 'x', valeu: 'y' }] } }, '/match/headers/0/valeu'],
      [
        'routes',
        { name: 'r', ...direct, middlewareOverrides: { m: { onlyWen: [] } } },
        '/middlewareOverrides/m/onlyWen',
      ],
      ['groups', { name: 'g', middlewareOverrides: { m: { disabeld: true } } }, '/middlewareOverrides/m/disabeld'],
      ['middlewares', middleware({ descriptoin: 'x' }), '/descriptoin'],
      ['middlewares', { name: 'm', type: 'cors', cors: { alowOrigins: ['https://a.example'] } }, '/cors/alowOrigins'],
    ];
    for (const [kind, body, pointer] of rows) {
      const { problems, unknown } = parseEntity(kind, body);
      expect(problems, pointer).to.deep.include({ pointer, message: 'is not a known field' });
      expect(unknown, pointer).to.deep.equal([]);
    }
  });

  it('beside them are named and left out', () => {
    const { problems, unknown, entity } = parseEntity('routes', { name: 'r', ...direct, match: {}, note: 'x' });
    expect(problems).to.deep.equal([]);
    expect(unknown).to.deep.equal(['/note']);
    expect(entity).not.to.have.property('note');
  });

  it('that are null are absent everywhere (J4)', () => {
    const { problems, unknown } = parseEntity('routes', { name: 'r', ...direct, match: { later: null } });
    expect([problems, unknown]).to.deep.equal([[], ['/match/later']]);
  });

  it('are excluded by the schemas of the document where they are problems', async () => {
    const schemas = (await modelSchemas()) as Record<string, { additionalProperties?: boolean }>;
    for (const name of ['Match', 'HeaderMatcher', 'MiddlewareOverride', 'Middleware', 'CorsConfig']) {
      expect(schemas[name]?.additionalProperties, name).to.equal(false);
    }
    expect(schemas.Route).not.to.have.property('additionalProperties');
  });
});

describe('texts that begin nearly like a reference to a secret', () => {
  for (const text of [
    '{{ secret:env:TOKEN}}',
    '{{secret :env:TOKEN}}',
    'Bearer {{\tsecret:value:a }}',
    '{{Secret:env:A}}',
  ]) {
    it(`are refused: ${JSON.stringify(text)}`, () => {
      const { problems } = parseEntity('routes', { name: 'r', directResponse: { status: 200, body: text } });
      expect(problems.map(({ pointer }) => pointer)).to.deep.equal(['/directResponse/body']);
      expect(problems[0]?.message).to.match(/is no reference: write \{\{secret: without blanks/);
    });
  }

  it('pass in the value of a secret, which refers to nothing', () => {
    expect(parseEntity('secrets', { name: 's', value: '{{ secret:env:A}}' }).problems).to.deep.equal([]);
  });

  it('do not touch other braces and references', () => {
    for (const body of ['{{ name }}', '{{secret:env:A}}', '{{ secrets: }}']) {
      const { problems } = parseEntity('routes', { name: 'r', directResponse: { status: 200, body } });
      expect(problems, body).to.deep.equal([]);
    }
  });
});
