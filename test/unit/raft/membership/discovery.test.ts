import { expect } from 'chai';

import { dnsDiscovery, type Resolver } from '../../../../raft/membership/discovery.ts';
import { drawClusterId, drawNumber } from '../../../../raft/membership/member-identity.ts';
import { rejection } from '../../../support/rejection.ts';

describe('discovery by name', () => {
  it('gives one address for each record, all on one port', async () => {
    const found = await dnsDiscovery('sluice', 7000, records(['10.0.0.2', '10.0.0.1'], ['fd00::1'])).addresses();
    expect(found).to.deep.equal(['10.0.0.1:7000', '10.0.0.2:7000', '[fd00::1]:7000']);
  });

  it('is content with one family of addresses', async () => {
    expect(await dnsDiscovery('sluice', 7000, records(['10.0.0.1'], undefined)).addresses()).to.have.length(1);
  });

  it('says so when no node answers', async () => {
    const failed = await rejection(dnsDiscovery('sluice', 7000, records(undefined, undefined)).addresses());
    expect(failed.message).to.equal('no such name: sluice');
  });
});

describe('numbers drawn for identities', () => {
  it('are integers that JavaScript counts exactly, for any bytes', () => {
    expect(drawNumber((into) => into.fill(0xff))).to.equal(Number.MAX_SAFE_INTEGER);
    expect(drawNumber((into) => into.fill(0))).to.equal(0);
  });

  it('give a cluster 32 hex digits', () => {
    expect(drawClusterId((into) => into.fill(0xa5))).to.equal('a5'.repeat(16));
  });
});

function records(v4: string[] | undefined, v6: string[] | undefined): Resolver {
  const answer = (name: string, found: string[] | undefined) =>
    found === undefined ? Promise.reject(new Error(`no such name: ${name}`)) : Promise.resolve(found);
  return { resolve4: (name) => answer(name, v4), resolve6: (name) => answer(name, v6) };
}
