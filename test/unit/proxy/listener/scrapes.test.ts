import { expect } from 'chai';
import type { Scrape } from '../../../../src/proxy/exchange/exchange-context.ts';
import type { LocalReply } from '../../../../src/proxy/exchange/phase.ts';
import { Scrapes } from '../../../../src/proxy/listener/scrapes.ts';

describe('scrapes of a listener', () => {
  let nowMs = 0;
  let rendered = 0;
  const render = async (): Promise<LocalReply> => ({ status: 200, fields: [], body: String(++rendered) });
  const numberOf = async ({ reply }: Scrape): Promise<number> => Number((await reply).body);

  beforeEach(() => {
    nowMs = 0;
    rendered = 0;
  });

  it('each get a text of their own, up to 16 at a time; further ones share the latest, which is 5 s old at most', async () => {
    const scrapes = new Scrapes(() => nowMs);
    const open = Array.from({ length: 16 }, () => scrapes.begin(render));
    expect(await Promise.all(open.map(numberOf))).to.deep.equal(Array.from({ length: 16 }, (_, at) => at + 1));
    for (let at = 0; at < 100; at++) expect(await numberOf(scrapes.begin(render))).to.equal(16);
    nowMs = 5_001;
    expect(await numberOf(scrapes.begin(render))).to.equal(17);
    expect(await numberOf(scrapes.begin(render))).to.equal(17);
  });

  it('are at their ends once, and the next one is new', async () => {
    const scrapes = new Scrapes(() => nowMs);
    const open = Array.from({ length: 17 }, () => scrapes.begin(render));
    expect(rendered).to.equal(16);
    for (const each of open) each.end();
    for (const each of open) each.end();
    expect(await numberOf(scrapes.begin(render))).to.equal(17);
    expect(await numberOf(scrapes.begin(render))).to.equal(18);
  });
});
