// One node asks another over loopback which state hashes it had, with everything that may come in between.
import { expect } from 'chai';
import type { Member } from '../../../../raft/index.ts';
import { LeaderConnections } from '../../../../src/cluster/relay/leader-connections.ts';
import { relayKey } from '../../../../src/cluster/relay/relay-credential.ts';
import { HashClient } from '../../../../src/cluster/state-hash/hash-client.ts';
import { HashServer, type HashServerOptions } from '../../../../src/cluster/state-hash/hash-server.ts';
import { HashHistory } from '../../../../src/state/hash-history.ts';
import { systemClock } from '../../../../src/util/clock.ts';
import { clusterId, newNonce, Servers, token } from '../../../support/relay-bed.ts';

const hashes = new Map([
  [41, '00000000000000aa'],
  [43, '00000000000000ab'],
]);

describe('asking another node for its state hashes', () => {
  const servers = new Servers();
  const connections = new LeaderConnections({ tls: undefined, clock: systemClock });

  afterEach(() => servers.close());
  after(() => connections.close());

  /** Asks a server with `options` about member b#2, as a client with `secret`, and returns its answer. */
  async function ask(
    options: Partial<HashServerOptions> = {},
    secret = token,
    cluster = clusterId,
    proven = (fields: Record<string, string>) => fields,
  ) {
    const server = new HashServer({
      key: relayKey(token),
      clock: systemClock,
      clusterId: () => clusterId,
      member: async () => 'b#2',
      hashes: () => hashes,
      ...options,
    });
    const address = await servers.relay({
      take: async (head, question) => {
        const body = await server.take(head, question);
        return { status: 200, headers: proven(server.fieldsOf(head, body)), body };
      },
    });
    const member: Member = { id: 'b#2', address: '', clientAddress: address };
    const key = relayKey(secret);
    const client = new HashClient({ connections, clusterId: () => cluster, key, clock: systemClock, newNonce });
    return await client.ask(member);
  }

  it('gives them by index', async () => {
    expect(await ask()).to.deep.equal(hashes);
  });

  const silent: [string, ...Parameters<typeof ask>][] = [
    ['a node with another secret', {}, 'another token of the cluster'],
    ['a node of another cluster', {}, token, 'cluster-b'],
    ['another node at that address', { member: async () => 'c#3' }],
    ['a node that takes no part', { member: async () => undefined }],
    ['hashes that are none', { hashes: () => new Map([[1, 'not a hash']]) }],
  ];
  const unproven: [string, (fields: Record<string, string>) => Record<string, string>][] = [
    ['an answer without a proof', () => ({})],
    ['an answer with the proof of another', () => ({ 'authentication-info': `mac="${'A'.repeat(43)}"` })],
  ];
  for (const [what, proven] of unproven)
    it(`learns nothing from ${what}`, async () => expect(await ask({}, token, clusterId, proven)).to.equal(undefined));

  for (const [what, ...given] of silent)
    it(`learns nothing from ${what}`, async () => expect(await ask(...given)).to.equal(undefined));

  it('learns nothing from a member without an address, or one that is away', async () => {
    const key = relayKey(token);
    const client = new HashClient({ connections, clusterId: () => clusterId, key, clock: systemClock, newNonce });
    for (const clientAddress of ['', '127.0.0.1:1'])
      expect(await client.ask({ id: 'b#2', address: '', clientAddress })).to.equal(undefined);
  });
});

describe('the history of state hashes', () => {
  it('keeps the last 512 rounds, and forgets all of a state that was replaced', () => {
    const history = new HashHistory();
    for (let index = 1; index <= 600; index++) history.add(index, `hash ${index}`);
    expect(history.entries.size).to.equal(512);
    expect([...history.entries.keys()][0]).to.equal(89);
    history.restart(900, 'of another');
    expect([...history.entries]).to.deep.equal([[900, 'of another']]);
    history.restart(0, 'empty');
    expect(history.entries.size).to.equal(0);
  });
});
