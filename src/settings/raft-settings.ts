// Section `controlPlane.raft` of the settings file: the members, and the trust between them
// (contract.md §1.3, architecture.md §9).
import { type Address, addressKey, namesHost, parseAddress, requiredAddressKey, unknownAddress } from './address.ts';
import { type Key, readKeys, section, type Values } from './key.ts';
import { requiredPemKey } from './pem-setting.ts';
import { integer, oneOf, text } from './scalar-key.ts';
import type { Section } from './section.ts';

/** Longest name of a node in bytes: with an incarnation of up to 16 digits it has the 256 that log and peers can read. */
const nameBytesMax = 239;
const nameLimit = `at most ${nameBytesMax} bytes of UTF-8`;
const isName = (nodeId: string): boolean => nodeId.isWellFormed() && Buffer.byteLength(nodeId) <= nameBytesMax;

/** Shortest token in characters. Shorter ones can be guessed from a handshake of two nodes. */
export const clusterTokenMin = 16;

interface Peer {
  readonly nodeId: string;
  readonly address: Address;
}

const peersKey: Key<readonly Peer[], ''> = {
  type: 'list of `nodeId=host:port`',
  meaning: 'every node, this one included; for the very first start. Required unless `discovery.dns` is set',
  unit: '',
  read: readPeers,
};

const raftKeys = {
  nodeId: text(`name of this node, unique in the cluster. See [operations](operations.md)`, {
    isRequired: true,
    type: `text, ${nameLimit}`,
    check: (nodeId) => (isName(nodeId) ? undefined : `must have ${nameLimit}`),
  }),
  bindAddress: requiredAddressKey('where it listens for its peers'),
  advertiseAddress: addressKey('where the peers reach it', {
    usual: '`bindAddress`; without a host, its entry in `peers`',
  }),
  peers: peersKey,
  discovery: section({
    dns: text('instead of `peers`: a name with one address per node', { isRequired: true }),
  }),
  expect: integer('nodes that a first start by `discovery.dns` waits for', { min: 1, max: 7, otherwise: 3 }),
  autoJoin: oneOf(
    ['none', 'learner'],
    'learner',
    '`none`: empty nodes become learners only by `POST /cluster/members`. Always so with neither token, API keys nor `raft.tls`, for ' +
      "then nothing distinguishes a node of the cluster from a stranger's",
  ),
  clusterToken: text(
    'the same on every node: proves membership between peers and for relayed writes, and seals what peers say to each other. Without ' +
      'it the first API key with the role `admin` stands in, which must then be the same on every node; between peers `raft.tls` comes ' +
      "before that. With none of the three the start warns. Required with API keys of which none is an `admin`'s",
    {
      type: `text, at least ${clusterTokenMin} characters`,
      isBlankRefused: true,
      check: (token) =>
        token.length < clusterTokenMin ? `must have at least ${clusterTokenMin} characters` : undefined,
    },
  ),
  tls: section({
    cert: requiredPemKey(
      'mutual TLS between peers. Without a token a certificate proves the name of the node that shows it ([TLS](tls.md#between-nodes))',
    ),
    key: requiredPemKey('its private key'),
    ca: requiredPemKey('authorities of the certificates of peers'),
  }),
};

type Read = Values<typeof raftKeys>;

export interface RaftSettings extends Omit<Read, 'advertiseAddress' | 'discovery'> {
  readonly advertiseAddress: Address;
  readonly discoveryDns?: string | undefined;
}

export const raftSection: Key<RaftSettings | undefined, ''> = {
  meaning: '',
  unit: '',
  below: { keys: raftKeys, isList: false },
  read(owner, name) {
    const at = owner.section(name);
    return at && readRaft(at);
  },
};

function readRaft(at: Section): RaftSettings {
  const { discovery, advertiseAddress, ...values } = readKeys(at, raftKeys);
  const { peers, nodeId, bindAddress } = values;
  for (const [name, address] of Object.entries({ bindAddress, advertiseAddress }))
    if (address?.port === 0 && address !== unknownAddress)
      at.error(name, 'must name a port, for the other nodes connect to it');
  if (peers.length === 0 && !discovery) at.error('peers', 'is required unless discovery.dns is set');
  if (peers.length > 0 && discovery) at.warn('peers', 'is ignored because discovery.dns is set');
  if (peers.length > 0 && !discovery && !peers.some((peer) => peer.nodeId === nodeId)) {
    at.error('peers', `must contain this node, ${JSON.stringify(nodeId)}`);
  }
  return {
    ...values,
    advertiseAddress: advertiseAddress ?? advertised(bindAddress, values),
    discoveryDns: discovery?.dns,
  };
}

/** Default of the advertised address: the bind address, or, where that names no host, the entry in the list of peers. */
function advertised(bindAddress: Address, { peers, nodeId }: Pick<RaftSettings, 'peers' | 'nodeId'>): Address {
  if (namesHost(bindAddress)) return bindAddress;
  return peers.find((peer) => peer.nodeId === nodeId)?.address ?? bindAddress;
}

function readPeers(at: Section, name: string): readonly Peer[] {
  const named = new Set<string>();
  return (at.texts(name) ?? []).flatMap((peer, place) => {
    const [, nodeId = '', addressText = ''] = /^([^=]+)=(.+)$/.exec(peer) ?? [];
    const address = parseAddress(addressText);
    if (address === undefined || address.host === '' || address.port === 0) {
      at.error(`${name}[${place}]`, 'must be nodeId=host:port');
      return [];
    }
    if (!isName(nodeId)) at.error(`${name}[${place}]`, `must have a name of ${nameLimit}`);
    const where = `=${address.host}:${address.port}`;
    if (named.has(nodeId) || named.has(where)) at.error(`${name}[${place}]`, 'names a node or an address twice');
    named.add(nodeId).add(where);
    return [{ nodeId, address }];
  });
}
