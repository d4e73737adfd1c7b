// Section `controlPlane.raft` of the settings file: the members, and the trust between them
// (contract.md §1.3, architecture.md §9).
import { type Address, namesHost, parseAddress, readAddress } from './address.ts';
import { requiredPem, type TlsFiles } from './pem-setting.ts';
import type { Section } from './section.ts';

export interface RaftSettings {
  readonly nodeId: string;
  readonly bindAddress: Address;
  readonly advertiseAddress: Address;
  readonly peers: readonly { readonly nodeId: string; readonly address: Address }[];
  readonly discoveryDns?: string;
  readonly expect: number;
  readonly autoJoin: 'none' | 'learner';
  readonly clusterToken?: string;
  readonly tls?: Required<TlsFiles>;
}

export function readRaft(section: Section | undefined): RaftSettings | undefined {
  if (!section) return undefined;
  const nodeId = section.required('nodeId');
  if (!isName(nodeId)) section.error('nodeId', `must have ${nameLimit}`);
  const bindAddress = section.has('bindAddress')
    ? readAddress(section, 'bindAddress')
    : section.error('bindAddress', 'is required');
  if (bindAddress?.port === 0) section.error('bindAddress', 'must name a port, for the other nodes connect to it');
  const peers = readPeers(section);
  const discovery = section.section('discovery');
  const discoveryDns = discovery?.required('dns');
  discovery?.end();
  if (peers.length === 0 && !discovery) section.error('peers', 'is required unless discovery.dns is set');
  if (peers.length > 0 && discovery) section.warn('peers', 'is ignored because discovery.dns is set');
  if (peers.length > 0 && !discovery && !peers.some((peer) => peer.nodeId === nodeId)) {
    section.error('peers', `must contain this node, ${JSON.stringify(nodeId)}`);
  }
  const bind = bindAddress ?? unknown;
  const advertiseAddress = readAddress(section, 'advertiseAddress');
  if (advertiseAddress?.port === 0) {
    section.error('advertiseAddress', 'must name a port, for the other nodes connect to it');
  }
  const settings: RaftSettings = {
    nodeId,
    bindAddress: bind,
    advertiseAddress: advertiseAddress ?? advertised(bind, { peers, nodeId }),
    peers,
    discoveryDns,
    expect: section.integer('expect', { min: 1, max: 7, otherwise: 3 }),
    autoJoin: section.oneOf('autoJoin', ['none', 'learner'], 'learner'),
    clusterToken: readClusterToken(section),
    tls: readRaftTls(section.section('tls')),
  };
  section.end();
  return settings;
}

/** Address in place of a wrong one, whose error is recorded. */
const unknown: Address = { host: '', port: 0 };

/** Default of the advertised address: the bind address, or, where that names no host, the entry in the list of peers. */
function advertised(bindAddress: Address, { peers, nodeId }: Pick<RaftSettings, 'peers' | 'nodeId'>): Address {
  if (namesHost(bindAddress)) return bindAddress;
  return peers.find((peer) => peer.nodeId === nodeId)?.address ?? bindAddress;
}

/** Longest name of a node in bytes: with an incarnation of up to 16 digits it has the 256 that log and peers can read. */
const nameBytesMax = 239;
const nameLimit = `at most ${nameBytesMax} bytes of UTF-8`;
const isName = (nodeId: string): boolean => nodeId.isWellFormed() && Buffer.byteLength(nodeId) <= nameBytesMax;

function readPeers(section: Section): RaftSettings['peers'] {
  const named = new Set<string>();
  return (section.texts('peers') ?? []).flatMap((text, at) => {
    const [, nodeId = '', addressText = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    const address = parseAddress(addressText);
    if (address === undefined || address.host === '' || address.port === 0) {
      section.error(`peers[${at}]`, 'must be nodeId=host:port');
      return [];
    }
    if (!isName(nodeId)) section.error(`peers[${at}]`, `must have a name of ${nameLimit}`);
    const place = `=${address.host}:${address.port}`;
    if (named.has(nodeId) || named.has(place)) section.error(`peers[${at}]`, 'names a node or an address twice');
    named.add(nodeId).add(place);
    return [{ nodeId, address }];
  });
}

/** Shortest token in characters. Shorter ones can be guessed from a handshake of two nodes. */
export const clusterTokenMin = 16;

function readClusterToken(section: Section): string | undefined {
  section.refuseBlank('clusterToken');
  const token = section.text('clusterToken');
  if (token !== undefined && token.length < clusterTokenMin)
    return section.error('clusterToken', `must have at least ${clusterTokenMin} characters`);
  return token;
}

function readRaftTls(section: Section | undefined): Required<TlsFiles> | undefined {
  if (!section) return undefined;
  const tls = { cert: requiredPem(section, 'cert'), key: requiredPem(section, 'key'), ca: requiredPem(section, 'ca') };
  section.end();
  return tls;
}
