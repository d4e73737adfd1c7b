// `sluice-controller --once` as it is built: what it prints, what it tells, and its exit code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { base, manifest } from '../support/manifests.ts';
import { endOf, newFolder, spawnNode } from '../support/sluice-process.ts';

const main = new URL('../../dist/src/controller/main.js', import.meta.url).pathname;
const rule = '{ backendRefs: [{ name: cart, port: 80 }] }';
const served = manifest('HTTPRoute', 'cart', `{ parentRefs: [{ name: web, sectionName: http }], rules: [${rule}] }`);

describe('sluice-controller --once', () => {
  const once = async (text: string, ...args: string[]) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'manifests.yaml'), text);
    return endOf(spawnNode([main, '--once', ...args, folder]));
  };

  for (const format of ['yaml', 'json'])
    it(`prints what would be written as ${format}, and ends with 0`, async () => {
      const { code, stdout, stderr } = await once(base + served, '-o', format);
      expect([code, stderr]).to.deep.equal([0, '']);
      const entities = parse(stdout) as Record<string, { id: string }[]>;
      expect(entities.routes?.map(({ id }) => id)).to.deep.equal(['httproute:shop:cart:0:0:0']);
    });

  it('tells what Sluice would refuse and what cannot be read, and ends with 3', async () => {
    const path = '{ matches: [{ path: { type: RegularExpression, value: "/(a" } }] }';
    const refused = manifest('HTTPRoute', 'refused', `{ parentRefs: [{ name: web }], rules: [${path}] }`);
    const odd = manifest('HTTPRoute', 'odd', '{ parentRefs: [{ name: web }], rules: [{ backendRefs: 7 }] }');
    const { code, stdout, stderr } = await once(base + served + refused + odd);
    expect(code).to.equal(3);
    expect(stderr).to.match(/^sluice-controller: HTTPRoute shop\/odd cannot be read: /m);
    expect(stderr).to.match(
      /^sluice-controller: HTTPRoute shop\/refused: Sluice refuses routes\/.*: \/match\/pathRegex /m,
    );
    expect(stdout)
      .to.contain('httproute:shop:cart:0:0:0')
      .and.not.match(/[&*]a\d/);
  });
});
