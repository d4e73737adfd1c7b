// Real transports on loopback for the tests: nodes with an identity, what they received, and how they meet.
import { capability, type Greeting } from '../../../../raft/codec/greeting.ts';
import type { Message } from '../../../../raft/core/message.ts';
import { type Member, type MemberId, memberId } from '../../../../raft/core/types.ts';
import { systemClock } from '../../../../raft/member/system-clock.ts';
import { TcpTransport, type TcpTransportOptions } from '../../../../raft/transport/tcp-transport.ts';
import { clusterId } from '../codec/messages.ts';

export interface TestNode {
  readonly transport: TcpTransport;
  readonly member: Member;
  readonly received: Message[];
  readonly unreachable: MemberId[];
  readonly refusals: string[];
  readonly contacts: string[];
  greeting: Greeting;
  /** Takes messages from here on; done already unless it `waits`. */
  begin(): void;
}

const opened: TestNode[] = [];

export function closeNodes(): void {
  for (const { transport } of opened.splice(0)) transport.close();
}

export async function openNode(
  nodeId: string,
  {
    greeting = {},
    waits = false,
    ...options
  }: Partial<Omit<TcpTransportOptions, 'greeting' | 'self'>> & { greeting?: Partial<Greeting>; waits?: boolean } = {},
): Promise<TestNode> {
  const received: Message[] = [];
  const unreachable: MemberId[] = [];
  const refusals: string[] = [];
  const contacts: string[] = [];
  const transport = new TcpTransport({
    bind: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    clusterToken: 'a token of the cluster',
    clock: systemClock,
    random: () => 0,
    isRemoved: () => false,
    subscriber: {
      removed: () => undefined,
      greeted: () => {},
      contacted: (id, from) => contacts.push(`${id} ${from.nodeId}`),
      failed: (_address, reason) => refusals.push(reason),
    },
    ...options,
    self: () => ({ id: memberId(node.greeting), clusterId: node.greeting.clusterId }),
    greeting: () => node.greeting,
  });
  const port = await transport.listen();
  const own = { ...greetingOf(nodeId), ...greeting, address: `127.0.0.1:${port}` };
  const member = { id: memberId(own), address: own.address, clientAddress: '' };
  const node: TestNode = {
    transport,
    member,
    received,
    unreachable,
    refusals,
    contacts,
    greeting: own,
    begin: () =>
      transport.start({ receive: (message) => received.push(message), unreachable: (peer) => unreachable.push(peer) }),
  };
  if (!waits) node.begin();
  opened.push(node);
  return node;
}

export function greetingOf(nodeId: string): Greeting {
  return {
    clusterId,
    nodeId,
    incarnation: nodeId.charCodeAt(0),
    boots: 1,
    run: Math.floor(Math.random() * 2 ** 40),
    address: '127.0.0.1:1',
    clientAddress: '',
    lastIndex: 0,
    lastTerm: 0,
    expects: [],
    keyFingerprint: '',
    capabilities: capability.sealedRecords,
  };
}

/** Makes each of the nodes a peer of the others. */
export function introduce(...nodes: TestNode[]): void {
  for (const { transport } of nodes) transport.setPeers(nodes.map(({ member }) => member));
}
