import { expect } from 'chai';
import { CookieKeyController, nextCookieKey } from '../../../src/leader/cookie-key-controller.ts';
import { cookieKeyRotationMs } from '../../../src/model/cookie-keys.ts';
import type { Draft } from '../../../src/state/command.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { put } from '../../support/commands.ts';

/** A state to which commands are given one after the other, each a second later. */
class Agreed {
  readonly state = new ConfigState();
  #index = 0;

  do(draft: Draft, time = this.#index * 1_000): unknown {
    const index = ++this.#index;
    const requestId = { origin: 'n', incarnation: 1, boot: 1, seq: index, ackedBelow: 1 };
    const command = { ...draft, v: 1, requestId, time } as Parameters<ConfigState['prepare']>[0][0]['command'];
    const round = this.state.prepare([{ index, command }], index);
    round.commit();
    return round.results[0]?.result.status;
  }

  /** Creates so many destinations of which the last asks for signed cookies, and captures them. */
  capture(name: string, count: number, signed: boolean): void {
    for (let at = 0; at < count; at++) {
      const cookie = { signed: signed && at === count - 1 };
      const options = { endpointBalancing: { algorithm: 'STICKY', sticky: { cookie } } };
      const { op, kind, id, mode, spec } = put('destinations', `${name}-${String(at).padStart(5, '0')}`, { options });
      this.do({ op, kind, id, mode, spec });
    }
    const checkedAt = this.state.changedAt;
    const createdAt = new Date(this.#index).toISOString();
    expect(this.do({ op: 'capture', id: name, name, createdAt, checkedAt, values: {} })).to.equal(201);
  }
}

describe('the controller of keys of signed cookies', () => {
  let agreed: Agreed;
  let controller: CookieKeyController;
  beforeEach(() => {
    agreed = new Agreed();
    controller = new CookieKeyController();
  });

  it('makes none for a cluster whose snapshots ask for no signed cookies', () => {
    agreed.capture('a', 3, false);
    for (let look = 0; look < 5; look++) expect(controller.due(agreed.state, 1e15)).to.equal(undefined);
  });

  it('makes the first once a snapshot asks for it, and another each day', () => {
    agreed.capture('a', 2, false);
    expect(controller.due(agreed.state, 0)).to.equal(undefined);
    agreed.capture('b', 2, true);
    const first = controller.due(agreed.state, 0);
    expect(first).to.deep.include({ op: 'cookieKey', after: 0 });
    expect(Buffer.from((first as { key: string }).key, 'base64')).to.have.length(32);
    expect(agreed.do(first as Draft, 5_000)).to.equal(200);
    expect(controller.due(agreed.state, 5_000 + cookieKeyRotationMs - 1)).to.equal(undefined);
    const second = controller.due(agreed.state, 5_000 + cookieKeyRotationMs);
    expect(second).to.deep.include({ op: 'cookieKey', after: agreed.state.cookieKeys.index });
    expect(second).not.to.have.property('key', (first as { key: string }).key);
  });

  it('reads a large snapshot in parts', () => {
    agreed.capture('large', 5_001, true);
    expect(controller.due(agreed.state, 0), 'the first look').to.equal(undefined);
    expect(controller.due(agreed.state, 0), 'the second').to.have.property('op', 'cookieKey');
  }).timeout(30_000);

  it('of two leaders that make one for the same keys has one refused; the newest eight are kept', () => {
    const drafts = [nextCookieKey(0), nextCookieKey(0)];
    expect(drafts.map((draft) => agreed.do(draft))).to.deep.equal([200, 409]);
    const made = [drafts[0]?.key];
    for (let n = 1; n < 10; n++) {
      const draft = nextCookieKey(agreed.state.cookieKeys.index);
      expect(agreed.do(draft)).to.equal(200);
      made.unshift(draft.key);
    }
    expect(agreed.state.cookieKeys.keys.map(({ key }) => key)).to.deep.equal(made.slice(0, 8));
  });
});
