// One request over Node's HTTP, with a limit on the time until its answer is whole. TLS is loaded for https alone.
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';

export interface CallTarget {
  /** Base URL of a server. */
  readonly url: URL;
  /** PEM texts. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Call {
  readonly method: string;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Milliseconds until the head of the answer is there, and between two parts of its body. */
  readonly timeoutMs: number;
}

/**
 * Certificate that is in the way: the server's, since its authority is not known (`authority`) or for another reason (`server`), or
 * the client's (`client`).
 */
export type Distrust = 'authority' | 'server' | 'client';

/** A request that got no answer. `wasSent`: the server may have carried it out. */
export class CallError extends Error {
  readonly wasSent: boolean;
  readonly distrust: Distrust | undefined;

  constructor(message: string, wasSent: boolean, distrust?: Distrust) {
    super(message);
    this.name = 'CallError';
    this.wasSent = wasSent;
    this.distrust = distrust;
  }
}

const agents = new Map<string, Agent>();

/** Closes the connections that are kept for the next request. */
export function closeConnections(): void {
  for (const agent of agents.values()) agent.destroy();
  agents.clear();
}

/** Resolves with the head of the answer; its body is read by the caller. Rejects with CallError. */
export async function call(
  target: CallTarget,
  { method, path, headers, body, timeoutMs }: Call,
): Promise<IncomingMessage> {
  const { request, agent } = protocolOf(target);
  const base = target.url.pathname.replace(/\/$/, '');
  const options: RequestOptions = {
    method,
    host: target.url.hostname.replace(/^\[|\]$/g, ''),
    port: target.url.port || (target.url.protocol === 'https:' ? 443 : 80),
    path: base + path,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
    agent,
  };
  return new Promise((resolve, reject) => {
    let wasSent = false;
    const sent = request(options, (answer) => {
      answer.setTimeout(timeoutMs, () =>
        answer.destroy(new CallError(`no more of the answer within ${seconds(timeoutMs)}`, true)),
      );
      clearTimeout(timer);
      resolve(answer);
    });
    const timer = setTimeout(
      () => sent.destroy(new CallError(`no answer within ${seconds(timeoutMs)}`, wasSent)),
      timeoutMs,
    );
    sent.once('socket', (socket) => {
      const onConnect = () => (wasSent = true);
      if (socket.connecting) socket.once(target.url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnect);
      else onConnect();
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error instanceof CallError ? error : callErrorOf(error, wasSent));
    });
    sent.end(body);
  });
}

const seconds = (ms: number) => `${ms / 1000} s`;

/** A server that refuses the client's certificate has not carried out anything. */
function callErrorOf(error: NodeJS.ErrnoException, wasSent: boolean): CallError {
  const distrust = distrustOf(error);
  return new CallError(reasonOf(error), wasSent && distrust === undefined, distrust);
}

function distrustOf({ code = '' }: NodeJS.ErrnoException): Distrust | undefined {
  if (/^ERR_SSL_.*ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) return 'client';
  if (/SELF_SIGNED|UNABLE_TO/.test(code)) return 'authority';
  return /^CERT_|^ERR_TLS_CERT/.test(code) ? 'server' : undefined;
}

/** Several addresses of one name fail with one error each. */
const reasonOf = (error: NodeJS.ErrnoException): string =>
  error instanceof AggregateError && error.errors.length > 0
    ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(', ')
    : /wrong version number|packet length too long/.test(error.message)
      ? 'the server does not speak TLS: is its address http://?'
      : error.message || error.code || 'the connection ended';

function protocolOf({ url, ca, cert, key }: CallTarget) {
  const isSecure = url.protocol === 'https:';
  // An import would read every export, and one of them loads a second client of HTTP: 50 ms.
  const { request, Agent } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
  const known = agents.get(url.origin);
  if (known !== undefined) return { request, agent: known };
  const agent = new Agent({ keepAlive: true, ...(isSecure && { ca, cert, key }) });
  agents.set(url.origin, agent);
  return { request, agent };
}
