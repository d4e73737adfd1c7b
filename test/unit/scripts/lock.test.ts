import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('the lock file', () => {
  it('holds the integrity of every package', () => {
    const { packages } = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    const without = Object.entries(packages).filter(([at, { integrity }]) => at !== '' && integrity === undefined);
    expect(without.map(([at]) => at)).to.deep.equal([]);
    expect(Object.keys(packages).length).to.be.above(100);
  });
});
