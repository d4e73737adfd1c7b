// Environments of expressions: one frozen library environment per place where expressions stand (contract.md §6.6),
// with the limits that keep a hostile expression small, and the overloads that the library lacks.
import { Environment } from '@marcbachmann/cel-js';
import { compileRegex } from '../regex.ts';
import { addressFunctions, addressMethods } from './address-functions.ts';
import { IpAddress, IpRange } from './addresses.ts';
import { Failure } from './values.ts';

/**
 * `request`: match.cel, skipWhen, onlyWhen, inlineAuthz, rateLimit, edits of headers. `response`: edits of response headers. `claims`: jwt.assertClaims, jwt.claimToHeaders. `guard`: guards
 * of rollouts. `recent`: recent requests.
 */
export type EnvironmentName = 'request' | 'response' | 'claims' | 'guard' | 'recent';

/** Messages of the request and response environments: type → field → type. */
export const messages: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PeerCertificate: { uris: 'list<string>', dnsNames: 'list<string>', subject: 'string', serial: 'string' },
  Tls: { peerCertificate: 'PeerCertificate' },
  Listener: { id: 'string', name: 'string', port: 'int', section: 'string' },
  Consumer: { id: 'string', name: 'string', labels: 'map<string, string>' },
  Body: { raw: 'string', json: 'dyn' },
  Response: { status: 'int' },
  Request: {
    id: 'string',
    method: 'string',
    path: 'string',
    host: 'string',
    scheme: 'string',
    clientIp: 'string',
    listener: 'Listener',
    headers: 'map<string, string>',
    headerValues: 'map<string, list<string>>',
    queryParams: 'map<string, string>',
    queryValues: 'map<string, list<string>>',
    body: 'Body',
    tls: 'Tls',
  },
};

/** Figures of one side of a rollout. All numbers are doubles. */
const sideFigures = {
  requests: 'double',
  serverErrors: 'double',
  clientErrors: 'double',
  proxyErrors: 'double',
  errorRate: 'double',
  p50Ms: 'double',
  p95Ms: 'double',
  p99Ms: 'double',
  meanMs: 'double',
};

/** Requests of a shadow step, by what the candidate would do differently. */
const shadowFigures = {
  ...{ requests: 'double', same: 'double', moved: 'double', lost: 'double', gained: 'double' },
  ...{ answersChanged: 'double', rejectedMore: 'double', rejectedLess: 'double', undecided: 'double' },
};

/** Numbers that are no integers are compared with any number. */
const recentFields = {
  ...{ time: 'string', method: 'string', scheme: 'string', host: 'string', path: 'string', protocol: 'string' },
  ...{ route: 'string', routeId: 'string', group: 'string', destination: 'string', endpoint: 'string' },
  ...{ listener: 'string', listenerId: 'string', section: 'string' },
  ...{ role: 'string', error: 'string', status: 'int', attempts: 'int', snapshotIndex: 'int', durationMs: 'dyn' },
  ...{ proxyMs: 'dyn', connectMs: 'dyn', firstByteMs: 'dyn', transferMs: 'dyn' },
  ...{ params: 'list<string>', query: 'map<string, string>', headers: 'map<string, string>' },
};

const options = {
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1000, maxDepth: 48, maxListElements: 512, maxMapEntries: 64, maxCallArguments: 8 },
};

export const environments: Readonly<Record<EnvironmentName, Environment>> = {
  request: requestEnvironment(),
  response: requestEnvironment().registerVariable('response', 'Response'),
  claims: withOverloads(new Environment(options))
    .registerVariable('claims', 'map<string, dyn>')
    .registerVariable('now', 'int'),
  guard: withOverloads(new Environment(options))
    .registerType('Side', { fields: sideFigures })
    .registerType('Proxies', { fields: { total: 'double', installed: 'double', refused: 'double' } })
    .registerVariable('candidate', 'Side')
    .registerVariable('stable', 'Side')
    .registerVariable('proxies', 'Proxies')
    .registerType('Mirror', { fields: { compared: 'double', mismatchShare: 'double' } })
    .registerVariable('mirror', 'Mirror')
    .registerType('Shadow', { fields: shadowFigures })
    .registerVariable('shadow', 'Shadow')
    .registerVariable('step', 'double')
    .registerVariable('share', 'double')
    .registerVariable('elapsed', 'double'),
  recent: recentEnvironment(),
};

/** Any variable, any type: for the evaluation of single operations whose operands are already known. */
export const untyped: Environment = withOverloads(new Environment({ ...options, unlistedVariablesAreDyn: true }));

function requestEnvironment(): Environment {
  const environment = withOverloads(new Environment(options));
  for (const [name, fields] of Object.entries(messages)) environment.registerType(name, { fields });
  return environment.registerVariable('request', 'Request').registerVariable('consumer', 'Consumer');
}

function recentEnvironment(): Environment {
  const environment = withOverloads(new Environment(options));
  for (const [name, type] of Object.entries(recentFields)) environment.registerVariable(name, type);
  const { method, scheme, host, path, headers } = recentFields;
  return environment
    .registerType('Recent', { fields: { method, scheme, host, path, headers } })
    .registerVariable('request', 'Recent');
}

function withAddresses(environment: Environment): Environment {
  environment.registerType('net.IP', { ctor: IpAddress, fields: {} });
  environment.registerType('net.CIDR', { ctor: IpRange, fields: {} });
  for (const { signatures, run } of [...Object.values(addressFunctions), ...Object.values(addressMethods)])
    for (const signature of signatures) environment.registerFunction(signature, thrown(run));
  return environment
    .registerOperator('net.IP == net.IP', (left: IpAddress, right: IpAddress) => left.equals(right))
    .registerOperator('net.CIDR == net.CIDR', (left: IpRange, right: IpRange) => left.equals(right));
}

/** Returns the function as the library wants it: it throws where ours answers a failure. */
function thrown(run: (a: unknown, b: unknown) => unknown): (a: unknown, b: unknown) => unknown {
  return (a, b) => {
    const result = run(a, b);
    if (result instanceof Failure) throw new TypeError(result.reason);
    return result;
  };
}

function withOverloads(plain: Environment): Environment {
  const environment = withAddresses(plain);
  const timestamp = 'google.protobuf.Timestamp';
  const duration = 'google.protobuf.Duration';
  return environment
    .registerFunction('matches(string, string): bool', (text: string, pattern: string) =>
      compileRegex(pattern).test(text),
    )
    .registerFunction('string.replace(string, string): string', (text: string, old: string, by: string) =>
      text.replaceAll(old, () => by),
    )
    .registerFunction('string.replace(string, string, int): string', replaceFirst)
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => text.charAt(Number(index)))
    .registerFunction('int(uint): int', (value: { valueOf(): bigint }) => value.valueOf())
    .registerFunction(`int(${timestamp}): int`, (at: Date) => BigInt(Math.floor(at.getTime() / 1000)))
    .registerFunction(`string(${timestamp}): string`, (at: Date) => at.toISOString().replace('.000Z', 'Z'))
    .registerFunction(`string(${duration}): string`, String)
    .registerFunction(`duration(${duration}): ${duration}`, (same: unknown) => same);
}

function replaceFirst(text: string, old: string, by: string, times: bigint): string {
  let left = times < 0n ? Number.POSITIVE_INFINITY : Number(times);
  return text.replaceAll(old, (found) => (left-- > 0 ? by : found));
}
