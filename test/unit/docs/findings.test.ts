import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import { rules } from '../../../src/findings/rules.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { makeCertificate } from '../../support/made-certificates.ts';

const page = readFileSync('docs/findings.md', 'utf8');
const dayMs = 86_400_000;

function configurationOf(text: string, nowMs: number): Configuration {
  const lasting = makeCertificate({ dnsNames: ['shop.test'] });
  const ending = makeCertificate({ dnsNames: ['shop.test'], until: new Date(nowMs + 10 * dayMs) });
  const { cert, key } = text.includes('of ten days') ? ending : lasting;
  const sent = JSON.parse(text, (_, value) =>
    value === 'KEY' ? key : String(value).startsWith('CERTIFICATE') ? cert : value,
  ) as Record<string, { id: string }[]>;
  const shop = { id: 'shop', name: 'shop', host: 'shop.internal', port: 80 };
  const destinations = [...(sent.destinations ?? []), shop].filter(
    ({ id }, at, all) => all.findIndex((each) => each.id === id) === at,
  );
  destinations.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { listeners: [], groups: [], middlewares: [], routes: [], ...sent, destinations } as unknown as Configuration;
}

describe('docs/findings.md', () => {
  it('has a row for every rule', () => {
    const rows = [...page.matchAll(/^\| \[`([a-z-]+)`\]/gm)].map(([, rule]) => rule);
    expect(rows).to.deep.equal(Object.keys(rules));
  });

  for (const [, rule = '', text = ''] of page.matchAll(/^### ([a-z-]+)\n\n```json\n(.*)\n```$/gm)) {
    it(`the example of ${rule} has the finding, and none other above info`, async () => {
      const nowMs = Date.now();
      const found = await findingsOf(configurationOf(text, nowMs), { nowMs });
      const grave = found.filter(({ severity }) => severity !== 'info').map((each) => each.rule);
      expect(found.map((each) => each.rule)).to.include(rule);
      expect(grave.filter((each) => each !== rule)).to.deep.equal([]);
    });
  }
});
