import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { BodyQuota } from '../../../src/api/body-quota.ts';
import { refusal } from '../../support/refusal.ts';

class Request extends EventEmitter {
  readonly headers: { readonly 'content-length'?: string };

  constructor(length?: string) {
    super();
    this.headers = length === undefined ? {} : { 'content-length': length };
  }
}

describe('a quota of bytes for bodies', () => {
  it('holds bodies up to its bound, by their length or by what would be read of them', () => {
    const quota = new BodyQuota(100, 'too many bodies at once');
    const bodies = { hold: (request: Request, limit: number) => quota.hold(request, limit, request) };
    const [first, endless] = [new Request('60'), new Request()];
    bodies.hold(first, 80);
    expect(refusal(() => bodies.hold(endless, 80))).to.deep.include({
      code: 'UNAVAILABLE',
      details: { body: { outcome: 'not-applied' }, headers: { Connection: 'close' } },
    });
    first.emit('close');
    bodies.hold(endless, 80);
    expect(refusal(() => bodies.hold(new Request('21'), 80))).to.include({ code: 'UNAVAILABLE' });
    bodies.hold(new Request('20'), 80);
    bodies.hold(new Request('0'), 80);
  });
});
