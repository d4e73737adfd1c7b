import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { BodyQuota } from '../../../src/api/body-quota.ts';
import type { SluiceError } from '../../../src/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { refusal } from '../../support/refusal.ts';

class Request extends EventEmitter {
  readonly headers: { readonly 'content-length'?: string };
  readonly socket = { bytesRead: 1_000 };
  complete = false;

  constructor(length?: string) {
    super();
    this.headers = length === undefined ? {} : { 'content-length': length };
  }
}

function bed() {
  const clock = new ManualClock();
  const quota = new BodyQuota({ bytesMax: 100, error: 'too many bodies at once', clock });
  const refused: (readonly [Request, SluiceError])[] = [];
  const hold = (request: Request, limit = 80): void =>
    quota.hold({ request, limit, until: request, refuse: (error) => refused.push([request, error]) });
  return { clock, hold, refused };
}

const details = { body: { outcome: 'not-applied' }, headers: { Connection: 'close' } };

describe('a quota of bytes for bodies', () => {
  it('holds bodies up to its bound, by their length or by what would be read of them', () => {
    const { hold } = bed();
    const [first, endless] = [new Request('60'), new Request()];
    hold(first);
    expect(refusal(() => hold(endless))).to.deep.include({ code: 'UNAVAILABLE', details });
    first.emit('close');
    hold(endless);
    expect(refusal(() => hold(new Request('21')))).to.include({ code: 'UNAVAILABLE' });
    hold(new Request('20'));
    hold(new Request('0'));
  });

  it('takes its room from a body that is not going to come in within a minute, where another one needs it', () => {
    const { clock, hold, refused } = bed();
    const [slow, next] = [new Request('60'), new Request('60')];
    hold(slow);
    clock.advance(1_999);
    expect(refusal(() => hold(next))).to.include({ code: 'UNAVAILABLE' });
    clock.advance(4_001);
    slow.socket.bytesRead += 5;
    hold(next);
    expect(refused.map(([request]) => request)).to.deep.equal([slow]);
    expect(refused[0]?.[1]).to.deep.include({ code: 'UNAVAILABLE', details });
    slow.emit('close');
    expect(refusal(() => hold(new Request('41')))).to.include({ code: 'UNAVAILABLE' });
  });

  it('leaves bodies alone that keep the pace, that are in, or whose room none needs', () => {
    const { clock, hold, refused } = bed();
    const [steady, whole] = [new Request('50'), new Request('50')];
    hold(steady);
    hold(whole);
    whole.complete = true;
    clock.advance(6_000);
    steady.socket.bytesRead += 5;
    expect(refusal(() => hold(new Request('1')))).to.include({ code: 'UNAVAILABLE' });
    clock.advance(6_000);
    hold(new Request('0'));
    expect(refused).to.deep.equal([]);
  });
});
