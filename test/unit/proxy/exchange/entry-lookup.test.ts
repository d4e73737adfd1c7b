// Entry of a request that repeats the head before it.
import { expect } from 'chai';
import type { ExchangeEntry } from '../../../../src/proxy/exchange/entry.ts';
import { EntryLookup } from '../../../../src/proxy/exchange/entry-lookup.ts';
import type { Installed } from '../../../../src/proxy/exchange/exchange-context.ts';
import type { ExchangeRequest } from '../../../../src/proxy/message/request.ts';

describe('the entry of a head that repeats', () => {
  const entry = { route: { id: 'open', name: 'open' } } as ExchangeEntry;

  /** Times that the table is asked for two requests with one head. */
  const asked = (isExhausted: boolean): number => {
    let times = 0;
    const match = (): ExchangeEntry => {
      times += 1;
      return entry;
    };
    const installed = { table: { headTable: 7, match } } as unknown as Installed;
    const lookup = new EntryLookup();
    for (let n = 0; n < 2; n++) lookup.find(installed, { isExhausted } as ExchangeRequest);
    return times;
  };

  it('is found once', () => expect(asked(false)).to.equal(1));

  it('is looked for again where matchers of the one before could not be decided: that one has none', () =>
    expect(asked(true)).to.equal(2));
});
