import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { embeddedDefault, parseSettings } from '../../../src/settings/settings.ts';
import { SettingsError } from '../../../src/settings/yaml.ts';

const settings = (text: string, environment: Record<string, string> = {}) => parseSettings(text, environment);

/** The one line that a faulty file gives. */
function reason(text: string, environment: Record<string, string> = {}): string {
  try {
    settings(text, environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  throw new Error('expected the settings to be refused');
}

describe('defaults of the settings (contract.md §1)', () => {
  it('fills in everything for an empty file', () => {
    const { mode, controlPlane, proxy, log, sessionStore, warnings } = settings('');
    expect(mode).to.equal('controlplane');
    expect(controlPlane).to.deep.include({
      address: { host: '', port: 8080 },
      storePath: '/data',
      apiKeys: [],
      shutdownTimeoutMs: 30_000,
      onStorageFailure: 'serve',
      allowedHosts: [],
    });
    expect(controlPlane.encryptionKey).to.equal(undefined);
    expect(proxy).to.deep.include({ reconnectIntervalMs: 5_000, celBodyMaxSize: 65_536, retryBufferBytes: 65_536 });
    expect(proxy.workers).to.be.at.least(1);
    expect(log).to.deep.equal({ format: 'console', level: 'info' });
    expect(sessionStore).to.equal(undefined);
    expect(settings('').telemetry.recent).to.deep.equal({ slots: 10_000, headers: [], query: [] });
    expect(
      settings(
        'telemetry: { recentRequests: 0, recentRequestHeaders: [X-A, x-a], recentRequestQuery: [Page, page, Page] }',
      ).telemetry.recent,
    ).to.deep.equal({
      slots: 0,
      headers: ['x-a'],
      query: ['Page', 'page'],
    });
    expect(warnings).to.deep.equal([]);
  });

  it('keeps the embedded default on loopback', () => {
    const { controlPlane } = settings(embeddedDefault);
    expect(controlPlane.address).to.deep.equal({ host: '127.0.0.1', port: 8080 });
    expect(controlPlane.storePath).to.equal('./data');
  });

  it('reads every key', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const read = settings(
      `
mode: controlplane
controlPlane:
  address: "[::1]:\${PORT}"
  advertiseAddress: node-a:8443
  storePath: /var/lib/sluice
  shutdownTimeout: 5s
  onStorageFailure: exit
  allowedHosts: [Sluice.Internal]
  auth: { apiKeys: [{ name: ops, key: k1 }, { name: ci, key: k2, role: editor }] }
  encryption: { key: "${key}" }
  secretSources: { env: [SLUICE_*], files: [/run/secrets] }
  raft:
    nodeId: a
    bindAddress: :7000
    advertiseAddress: 10.0.0.1:7000
    peers: [a=10.0.0.1:7000, b=10.0.0.2:7000, c=10.0.0.3:7000]
    expect: 5
    autoJoin: none
    clusterToken: a-long-enough-token
proxy:
  reconnectInterval: 1s
  celBodyMaxSize: 0
  workers: 2
  bindAddress: 127.0.0.2
  retryBufferBytes: 1024
log: { format: json, level: debug }
sessionStore: { type: redis, redis: { address: "redis:6380", password: p, db: 2 } }
`,
      { PORT: '8443' },
    );
    expect(read.controlPlane.address).to.deep.equal({ host: '::1', port: 8443 });
    expect(read.controlPlane.advertiseAddress).to.deep.equal({ host: 'node-a', port: 8443 });
    expect(read.controlPlane.apiKeys).to.deep.equal([
      { name: 'ops', key: 'k1', role: 'admin' },
      { name: 'ci', key: 'k2', role: 'editor' },
    ]);
    expect(read.controlPlane.encryptionKey?.toString('base64')).to.equal(key);
    expect(read.controlPlane.secretSources).to.deep.equal({ env: ['SLUICE_*'], files: ['/run/secrets'] });
    expect(read.controlPlane.allowedHosts).to.deep.equal(['sluice.internal']);
    expect(read.controlPlane.raft?.peers.map(({ nodeId }) => nodeId)).to.deep.equal(['a', 'b', 'c']);
    expect(read.controlPlane.raft).to.deep.include({
      nodeId: 'a',
      expect: 5,
      autoJoin: 'none',
      clusterToken: 'a-long-enough-token',
    });
    expect(read.proxy).to.deep.include({
      reconnectIntervalMs: 1_000,
      celBodyMaxSize: 0,
      workers: 2,
      bindAddress: '127.0.0.2',
      retryBufferBytes: 1_024,
    });
    expect(read.log).to.deep.equal({ format: 'json', level: 'debug' });
    expect(read.sessionStore).to.deep.equal({
      type: 'redis',
      address: { host: 'redis', port: 6380 },
      password: 'p',
      db: 2,
    });
    expect(read.warnings).to.deep.equal([]);
  });

  it('tells an absent list of secret sources from an empty one', () => {
    expect(settings('controlPlane: { secretSources: { env: [] } }').controlPlane.secretSources).to.deep.equal({
      env: [],
      files: undefined,
    });
    expect(settings('').controlPlane.secretSources).to.equal(undefined);
  });

  it('trims the slashes of the control plane URL', () => {
    const { proxy } = settings('mode: proxy\nproxy: { controlPlaneUrl: "http://cp:8080//" }');
    expect(proxy.controlPlaneUrls).to.deep.equal(['http://cp:8080']);
  });

  it('reads what a proxy of its own needs (fleet.md §2)', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const { proxy } = settings(
      `mode: proxy\nproxy: { controlPlaneUrls: ["http://a:1/", "https://b/x"], id: edge-1, labels: { site: fra, tier: 1 }, ` +
        `storePath: /s, lastGood: false, encryption: { key: "${key}" }, admin: { address: ":9" } }`,
    );
    expect(proxy).to.deep.include({
      controlPlaneUrls: ['http://a:1', 'https://b/x'],
      id: 'edge-1',
      labels: { site: 'fra', tier: '1' },
      storePath: '/s',
      lastGood: false,
      encryptionKey: Buffer.alloc(32, 7),
      admin: { address: { host: '', port: 9 }, isConfigured: true },
    });
    const longest = Object.fromEntries(
      Array.from({ length: 32 }, (_, at) => ['/'.repeat(62) + (at + 10), '/'.repeat(64)]),
    );
    expect(settings(`proxy: { labels: ${JSON.stringify(longest)} }`).proxy.labels).to.deep.equal(longest);
    const absent = settings('mode: proxy\nproxy: { controlPlaneUrl: "http://a" }').proxy;
    expect(absent).to.deep.include({
      labels: {},
      storePath: './data-proxy',
      lastGood: true,
      admin: { address: { host: '127.0.0.1', port: 9901 }, isConfigured: false },
    });
    expect(settings('proxy: { admin: { address: none } }').proxy.admin).to.deep.equal({
      address: undefined,
      isConfigured: true,
    });
  });
});

describe('certificates of the settings file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
  after(() => rmSync(folder, { recursive: true }));

  it('are read from a file, or taken as they are', () => {
    writeFileSync(join(folder, 'cert.pem'), '-----BEGIN CERTIFICATE-----\nfile\n');
    const { tls } = settings(`
controlPlane:
  tls:
    cert: ${folder}/cert.pem
    key: |
      -----BEGIN PRIVATE KEY-----
      inline
`).controlPlane;
    expect(tls?.cert).to.contain('file');
    expect(tls?.key).to.contain('inline');
  });
});

describe('settings that are refused (contract.md §1.7)', () => {
  const rows: [string, string, string][] = [
    ['YAML invalid', 'a: [', 'YAML is invalid at line 1'],
    ['not a map', '- a', 'must be a map'],
    ['wrong YAML type', 'log: [1]', 'log must be a map'],
    [
      'recent requests out of range',
      'telemetry: { recentRequests: 100001 }',
      'telemetry.recentRequests must be an integer from 0 to 100000',
    ],
    [
      'recent requests with what is no header',
      'telemetry: { recentRequestHeaders: [x-a, "x b"] }',
      'telemetry.recentRequestHeaders[1] must be the name of a header',
    ],
    [
      'recent requests with what is no parameter',
      'telemetry: { recentRequestQuery: [page, ""] }',
      'telemetry.recentRequestQuery[1] must be the name of a parameter, at most 128 characters',
    ],
    ['wrong YAML type of a value', 'controlPlane: { storePath: [a] }', 'controlPlane.storePath must be a string'],
    ['mode unknown', 'mode: gateway', 'mode has an unknown mode "gateway"'],
    ['proxy mode without its URL', 'mode: proxy', 'proxy.controlPlaneUrl is required'],
    [
      'a URL that is none',
      'mode: proxy\nproxy: { controlPlaneUrl: "ftp://x" }',
      'proxy.controlPlaneUrl must be an http',
    ],
    [
      'a URL with a password',
      'mode: proxy\nproxy: { controlPlaneUrl: "http://u:p@x" }',
      'proxy.controlPlaneUrl must not hold a user',
    ],
    [
      'both ways to name control planes',
      'mode: proxy\nproxy: { controlPlaneUrl: "http://x", controlPlaneUrls: ["http://y"] }',
      'proxy.controlPlaneUrls must not stand beside controlPlaneUrl',
    ],
    [
      'no control planes',
      'mode: proxy\nproxy: { controlPlaneUrls: [] }',
      'proxy.controlPlaneUrls must have at least one entry',
    ],
    ['an id that is none', 'proxy: { id: "a b" }', 'proxy.id must be 1 to 128 characters'],
    [
      'labels that no control plane would read the head of',
      `proxy: { labels: {${Array.from({ length: 32 }, (_, at) => ` ${'é'.repeat(62)}${at + 10}: ${'é'.repeat(64)}`).join()} } }`,
      'proxy.labels must have at most 12800 characters when they are percent-encoded',
    ],
    ['half a character in a label', 'proxy: { labels: { a: "\\ud83d" } }', 'proxy.labels.a must be 1 to 64'],
    ['a label that is too long', `proxy: { labels: { a: ${'x'.repeat(65)} } }`, 'proxy.labels.a must be 1 to 64'],
    ['lastGood that is no flag', 'proxy: { lastGood: 1 }', 'proxy.lastGood must be true or false'],
    ['encryption without a key', 'proxy: { encryption: { key: "" } }', 'proxy.encryption.key is required'],
    ['an admin address that is none', 'proxy: { admin: { address: x } }', 'proxy.admin.address must be [host]:port'],
    [
      'reconnectInterval not positive',
      'proxy: { reconnectInterval: 0s }',
      'proxy.reconnectInterval must be a positive duration',
    ],
    [
      'reconnectInterval without a unit',
      'proxy: { reconnectInterval: 5 }',
      'proxy.reconnectInterval must be a positive duration',
    ],
    [
      'celBodyMaxSize negative',
      'proxy: { celBodyMaxSize: -1 }',
      'proxy.celBodyMaxSize must be an integer of at least 0',
    ],
    ['workers out of range', 'proxy: { workers: 65 }', 'proxy.workers must be an integer from 1 to 64'],
    ['bindAddress a name', 'proxy: { bindAddress: here }', 'proxy.bindAddress must be an IP address'],
    ['address without a port', 'controlPlane: { address: localhost }', 'controlPlane.address must be [host]:port'],
    ['address with a port too high', 'controlPlane: { address: ":65536" }', 'controlPlane.address must be [host]:port'],
    [
      'raft without nodeId',
      'controlPlane: { raft: { bindAddress: ":1", peers: ["a=b:1"] } }',
      'controlPlane.raft.nodeId is required',
    ],
    [
      'raft without bindAddress',
      'controlPlane: { raft: { nodeId: a, peers: ["a=b:1"] } }',
      'controlPlane.raft.bindAddress is required',
    ],
    [
      'raft without peers and dns',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1" } }',
      'controlPlane.raft.peers is required unless discovery.dns',
    ],
    [
      'a peer of another form',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["b:1"] } }',
      'controlPlane.raft.peers[0] must be nodeId=host:port',
    ],
    [
      'a peer without a port that one can connect to',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1", "c=d:0"] } }',
      'controlPlane.raft.peers[1] must be nodeId=host:port',
    ],
    ...[`${'ü'.repeat(120)}`, 'x'.repeat(240), '\\ud83d'].map((name): [string, string, string] => [
      `a name of a node that its log could not read again: ${name.slice(0, 8)}`,
      `controlPlane: { raft: { nodeId: "${name}", bindAddress: ":1", peers: ["${name}=b:1"] } }`,
      'controlPlane.raft.nodeId must have at most 239 bytes of UTF-8',
    ]),
    [
      'a peer with such a name',
      `controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1", "${'x'.repeat(240)}=c:1"] } }`,
      'controlPlane.raft.peers[1] must have a name of at most 239 bytes of UTF-8',
    ],
    [
      'an address whose host is longer than any',
      `controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=${'b'.repeat(255)}:1"] } }`,
      'controlPlane.raft.peers[0] must be nodeId=host:port',
    ],
    [
      'a raft address to advertise without a port that one can connect to',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", advertiseAddress: "a:0", peers: ["a=b:1"] } }',
      'controlPlane.raft.advertiseAddress must name a port',
    ],
    [
      'one node twice',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1", "a=c:1"] } }',
      'controlPlane.raft.peers[1] names a node or an address twice',
    ],
    [
      'one address twice',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1", "c=b:1"] } }',
      'controlPlane.raft.peers[1] names a node or an address twice',
    ],
    [
      'peers without this node',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["b=c:1"] } }',
      'controlPlane.raft.peers must contain this node',
    ],
    [
      'a short cluster token',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1"], clusterToken: short } }',
      'controlPlane.raft.clusterToken must have at least 16',
    ],
    [
      'API keys of which none can stand in for a cluster token',
      'controlPlane: { auth: { apiKeys: [{ name: eyes, key: k, role: viewer }] }, ' +
        'raft: { nodeId: a, bindAddress: "b:1", peers: ["a=b:1"] } }',
      'controlPlane.raft.clusterToken is required: no API key has the role admin',
    ],
    [
      'raft.tls incomplete',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1"], tls: { cert: "-----BEGIN" } } }',
      'controlPlane.raft.tls.key is required',
    ],
    [
      'raft on a port of the system',
      'controlPlane: { raft: { nodeId: a, bindAddress: "a:0", peers: ["a=b:1"] } }',
      'controlPlane.raft.bindAddress must name a port',
    ],
    [
      'an API on a port of the system that nobody else can know',
      'controlPlane: { address: ":0", raft: { nodeId: a, bindAddress: ":1", peers: ["a=b:1"] } }',
      'controlPlane.advertiseAddress is required with raft when address lets the system choose the port',
    ],
    [
      'an API on a host that nobody else can know',
      'controlPlane: { raft: { nodeId: a, bindAddress: "0.0.0.0:1", discovery: { dns: x } } }',
      'controlPlane.advertiseAddress is required with raft when raft.advertiseAddress names no host',
    ],
    [
      'an advertised address without a host',
      'controlPlane: { advertiseAddress: ":8080", raft: { nodeId: a, bindAddress: "a:1", peers: ["a=b:1"] } }',
      'controlPlane.advertiseAddress must be host:port',
    ],
    ['encryption left empty', 'controlPlane: { encryption: }', 'controlPlane.encryption is empty'],
    ['tls left empty', 'controlPlane: { tls: }', 'controlPlane.tls is empty'],
    ['auth left empty', 'controlPlane: { auth: }', 'controlPlane.auth is empty'],
    ['secretSources left empty', 'controlPlane: { secretSources: }', 'controlPlane.secretSources is empty'],
    ['tls without cert', 'controlPlane: { tls: { key: "-----BEGIN" } }', 'controlPlane.tls.cert is required'],
    ['tls without key', 'controlPlane: { tls: { cert: "-----BEGIN" } }', 'controlPlane.tls.key is required'],
    [
      'a certificate file that is not there',
      'controlPlane: { tls: { cert: /nowhere.pem, key: "-----BEGIN" } }',
      'controlPlane.tls.cert names a file that cannot be read',
    ],
    [
      'clientAuth outside the enum',
      'controlPlane: { tls: { cert: "-----BEGIN", key: "-----BEGIN", clientAuth: maybe } }',
      'controlPlane.tls.clientAuth must be one of none, optional, require',
    ],
    [
      'clientAuth without ca',
      'controlPlane: { tls: { cert: "-----BEGIN", key: "-----BEGIN", clientAuth: require } }',
      'controlPlane.tls.ca is required',
    ],
    ['proxy.tls with cert alone', 'proxy: { tls: { cert: "-----BEGIN" } }', 'proxy.tls.key is required'],
    ['proxy.tls with key alone', 'proxy: { tls: { key: "-----BEGIN" } }', 'proxy.tls.cert is required'],
    [
      'proxy.tls.clientAuth outside the enum',
      'proxy: { tls: { clientAuth: maybe } }',
      'proxy.tls.clientAuth must be one of',
    ],
    [
      'an API key without name',
      'controlPlane: { auth: { apiKeys: [{ key: k }] } }',
      'controlPlane.auth.apiKeys[0].name is required',
    ],
    [
      'an API key without key',
      'controlPlane: { auth: { apiKeys: [{ name: n }] } }',
      'controlPlane.auth.apiKeys[0].key is required',
    ],
    [
      'an API key with the line end of its file',
      'controlPlane: { auth: { apiKeys: [{ name: n, key: "k\\n" }] } }',
      'controlPlane.auth.apiKeys[0].key must be visible ASCII characters',
    ],
    [
      'an API key that no request can carry',
      'controlPlane: { auth: { apiKeys: [{ name: n, key: "clé" }] } }',
      'controlPlane.auth.apiKeys[0].key must be visible ASCII characters',
    ],
    [
      'a key of a proxy with a blank behind it',
      'mode: proxy\nproxy: { controlPlaneUrl: "http://x", apiKey: "k " }',
      'proxy.apiKey must be visible ASCII characters',
    ],
    [
      'a URL with a query, to which no path could be added',
      'mode: proxy\nproxy: { controlPlaneUrl: "http://x?a=b" }',
      'proxy.controlPlaneUrl must not hold a query or a fragment',
    ],
    [
      'an API key of unknown role',
      'controlPlane: { auth: { apiKeys: [{ name: n, key: k, role: root }] } }',
      'controlPlane.auth.apiKeys[0].role must be one of',
    ],
    [
      'a role that a variable left empty, which would be admin',
      'controlPlane: { auth: { apiKeys: [{ name: n, key: k, role: ${SLUICE_NOT_SET} }] } }',
      'controlPlane.auth.apiKeys[0].role is empty',
    ],
    [
      'a list of API keys that a variable left empty, which would be no authentication',
      'controlPlane: { auth: { apiKeys: ${SLUICE_NOT_SET} } }',
      'controlPlane.auth.apiKeys is empty',
    ],
    [
      'a fence that a variable left empty, which would be none',
      'controlPlane: { secretSources: { files: ${SLUICE_NOT_SET} } }',
      'controlPlane.secretSources.files is empty',
    ],
    [
      'a cluster token that a variable left empty',
      'controlPlane: { raft: { nodeId: a, bindAddress: ":7000", peers: ["a=h:7000"], clusterToken: "${SLUICE_NOT_SET}" } }',
      'controlPlane.raft.clusterToken is empty',
    ],
    [
      'two API keys of one value',
      'controlPlane: { auth: { apiKeys: [{ name: n, key: k }, { name: m, key: k }] } }',
      'controlPlane.auth.apiKeys[1].key is used twice',
    ],
    [
      'an encryption key from an unset variable',
      'controlPlane: { encryption: { key: "${NOWHERE}" } }',
      'controlPlane.encryption.key is required',
    ],
    [
      'an encryption key that is not base64',
      'controlPlane: { encryption: { key: "%%" } }',
      'controlPlane.encryption.key must be standard base64',
    ],
    [
      'an encryption key of another length',
      'controlPlane: { encryption: { key: "AAAA" } }',
      'controlPlane.encryption.key must be standard base64 of exactly 32 bytes',
    ],
    [
      'an unknown reaction to a storage failure',
      'controlPlane: { onStorageFailure: hope }',
      'controlPlane.onStorageFailure must be one of serve, exit',
    ],
    [
      'a section of a mode that is not run',
      'mode: proxy\nproxy: { controlPlaneUrl: "http://a" }\ncontrolPlane: { address: x }',
      'controlPlane.address must be',
    ],
  ];

  for (const [name, text, expected] of rows) {
    it(name, () => expect(reason(text)).to.contain(expected));
  }

  it('names every wrong key on one line', () => {
    const line = reason('mode: x\ncontrolPlane: { address: y }\nproxy: { workers: 0 }');
    expect(line).to.match(/^mode .*; controlPlane\.address .*; proxy\.workers [^\n]*$/);
  });
});

describe('settings that only earn a warning', () => {
  const rows: [string, string, string][] = [
    ['an unknown key', 'nope: 1', 'nope is unknown and ignored'],
    [
      'an unknown nested key',
      'controlPlane: { auth: { users: [] } }',
      'controlPlane.auth.users is unknown and ignored',
    ],
    ['an unknown log format', 'log: { format: xml }', 'log.format must be one of console, json; using console'],
    ['an unknown log level', 'log: { level: loud }', 'log.level must be one of debug, info, warn, error; using info'],
    ['an unknown session store', 'sessionStore: { type: memcached }', 'sessionStore.type is unknown'],
    [
      'peers and dns together',
      'controlPlane: { raft: { nodeId: a, bindAddress: "a:1", peers: ["b=c:1"], discovery: { dns: x } } }',
      'controlPlane.raft.peers is ignored because discovery.dns is set',
    ],
  ];

  for (const [name, text, expected] of rows) {
    it(name, () => expect(settings(text).warnings.join('\n')).to.contain(expected));
  }
});
