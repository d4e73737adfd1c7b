import { expect } from 'chai';
import { findingsOf } from '../../../src/findings/findings.ts';
import { cleanTable } from '../../support/clean-table.ts';

describe('findings of large tables', () => {
  it('10,000 routes without a fault have none above info', async () => {
    const found = await findingsOf(cleanTable(10_000), { nowMs: Date.now() });
    expect(found.filter(({ severity }) => severity !== 'info')).to.deep.equal([]);
  });
});
