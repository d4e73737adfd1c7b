import { expect } from 'chai';

import { eventually } from '../../../support/eventually.ts';
import { heartbeat } from '../codec/messages.ts';
import { ca, a as certA, b as certB, stranger } from './certificates.ts';
import { closeNodes, introduce, openNode, type TestNode } from './nodes.ts';

describe('the transport under mutual TLS', () => {
  afterEach(closeNodes);

  it('carries messages between nodes whose certificates name them', async () => {
    const nodes = [await tlsNode('a', certA), await tlsNode('b', certB)] as const;
    introduce(...nodes);
    await talking(...nodes);
  });

  it('refuses a node whose certificate names another', async () => {
    const nodes = [await tlsNode('b', certA), await tlsNode('a', certA)] as const;
    introduce(...nodes);
    await eventually(() => expect(nodes[1].refusals.join()).to.match(/the certificate does not name b/));
  });

  it('lets the token prove the name when there is one: the certificate may be shared', async () => {
    const shared = { clusterToken: 'a token of the cluster' };
    const nodes = [await tlsNode('a', certA, shared), await tlsNode('b', certA, shared)] as const;
    introduce(...nodes);
    await talking(...nodes);
  });

  it('refuses a certificate that the authority did not sign', async () => {
    const nodes = [await tlsNode('b', certB), await tlsNode('a', stranger)] as const;
    introduce(...nodes);
    await eventually(() => expect(nodes[0].refusals.join()).to.match(/certificate/));
    await eventually(() => expect(nodes[1].refusals).not.to.deep.equal([]));
    expect(nodes[0].transport.met()).to.deep.equal([]);
  });

  it('does not talk to a node without TLS', async () => {
    const nodes = [await tlsNode('a', certA), await openNode('b')] as const;
    introduce(...nodes);
    await eventually(() => expect(nodes[1].refusals.length).to.be.greaterThan(0));
    expect(nodes[0].transport.met()).to.deep.equal([]);
  });
});

function tlsNode(nodeId: string, own: { cert: string; key: string }, options: { clusterToken?: string } = {}) {
  return openNode(nodeId, { tls: { ...own, ca }, clusterToken: options.clusterToken });
}

async function talking(from: TestNode, to: TestNode): Promise<void> {
  await eventually(() => {
    from.transport.send({ ...heartbeat(), from: from.member.id, to: to.member.id });
    expect(to.received).not.to.deep.equal([]);
  });
}
