// Path patterns of Caddy as matches of routes.
import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';

/** Returns the matches of the routes made of one pattern, and the outcomes in the report that are not `taken`. */
async function imported(pattern: string) {
  const handle = [{ handler: 'static_response', body: 'x' }];
  const routes = [{ match: [{ path: [pattern] }], handle }];
  const text = JSON.stringify({ apps: { http: { servers: { s: { listen: [':8081'], routes } } } } });
  const { resources, report } = await importFiles('caddy', [{ name: 'caddy.json', text }]);
  const [first] = resources.filter(({ kind, name }) => kind === 'routes' && name !== 's-otherwise');
  const refused = report.some(({ outcome }) => outcome === 'not taken');
  return { match: first?.fields.match as Record<string, string> | undefined, refused };
}

describe('a path pattern of Caddy', () => {
  const regexes: readonly [pattern: string, yes: readonly string[], no: readonly string[]][] = [
    ['*.php', ['/a.php', '/a/b.php'], ['/a.php/b']],
    ['*mid*', ['/mid', '/a/mid/b/c'], ['/mi/d']],
    ['/a/*/c', ['/a/b/c', '/a//c'], ['/a/b/b/c', '/a/b/c/d']],
    ['/v?/x', ['/v1/x'], ['/v/x', '/v12/x', '/v1/x/y']],
    ['/v[1-3]', ['/v1', '/v3'], ['/v4', '/v[1-3]']],
    ['/v[^13]', ['/v2'], ['/v1']],
    ['/a\\?b', ['/a?b'], ['/axb']],
    ['/x[\\^\\d]', ['/x^', '/xd'], ['/x1', '/x\\']],
    ['/x[a\\-c]', ['/x-', '/xc'], ['/xb']],
    ['/*a*b', ['/xaxb'], ['/a/b']],
  ];
  for (const [pattern, yes, no] of regexes) {
    it(`${pattern} matches what Caddy matches`, async () => {
      const { match } = await imported(pattern);
      const regex = new RegExp(`^(?:${match?.pathRegex})`);
      for (const path of yes) expect(regex.test(path), path).to.equal(true);
      for (const path of no) expect(regex.test(path), path).to.equal(false);
    });
  }

  it('without a wildcard is exact, and one with a class without an end is not taken', async () => {
    expect((await imported('/a')).match).to.deep.equal({ path: '/a' });
    expect((await imported('/a[b')).refused).to.equal(true);
  });
});
