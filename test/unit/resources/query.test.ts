import { expect } from 'chai';
import { anonymousAdmin } from '../../../src/resources/caller.ts';
import { flagOf } from '../../../src/resources/query.ts';
import type { ApiRequest } from '../../../src/resources/resource-answer.ts';
import { refusal } from '../../support/refusal.ts';

const request = (query: Record<string, string | string[]>): ApiRequest => ({
  caller: anonymousAdmin,
  path: '/api/v1/batch',
  query,
  headers: {},
  body: Buffer.alloc(0),
});

describe('a boolean query parameter', () => {
  it('is true or false, and false when it is absent', () => {
    expect(flagOf(request({ dryRun: 'true' }), 'dryRun')).to.equal(true);
    expect(flagOf(request({ dryRun: 'false' }), 'dryRun')).to.equal(false);
    expect(flagOf(request({}), 'dryRun')).to.equal(false);
  });

  it('is refused when it is empty, for a rehearsal must not write, and when it is anything else', () => {
    for (const dryRun of ['', '1', 'TRUE', ['true', 'true']]) {
      expect(
        refusal(() => flagOf(request({ dryRun }), 'dryRun')),
        String(dryRun),
      ).to.include({ code: 'INVALID' });
    }
  });
});
