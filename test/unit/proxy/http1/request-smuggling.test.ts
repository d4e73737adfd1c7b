// S01, S03, S30: requests with an ambiguous end or an ambiguous host are refused.
import { expect } from 'chai';
import { readRequests } from '../../../support/http1-reader.ts';
import { refusedBodies, refusedRequests } from '../../../support/refused-requests.ts';

describe('the request codec refuses', () => {
  for (const [name, text] of [...refusedRequests, ...refusedBodies]) {
    it(name, () => {
      const { messages, end } = readRequests(Buffer.from(text, 'latin1'));
      expect(end).not.to.be.oneOf(['idle', 'more']);
      expect(messages).to.deep.equal([]);
    });
  }
});
