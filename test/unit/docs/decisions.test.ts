import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const folder = new URL('../../../docs/decisions/', import.meta.url);
const read = (page: string): string => readFileSync(new URL(page, folder), 'utf8');

describe('docs/decisions', () => {
  it('are listed in the index by their titles, one line each', () => {
    const pages = readdirSync(folder).filter((page) => page !== 'README.md');
    const listed = [...read('README.md').matchAll(/^- \[(.+)\]\((.+)\): \S/gm)].map(([, title, page]) => [page, title]);
    expect(listed).to.deep.equal(pages.sort().map((page) => [page, /^# (.+)$/m.exec(read(page))?.[1]]));
  });
});
