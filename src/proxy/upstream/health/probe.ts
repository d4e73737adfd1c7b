// One probe of an endpoint (contract.md §7.10, architecture.md §6.26): a connection of its own, one question, an answer
// in time or none. A probe never throws.

import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../../../util/clock.ts';
import { headFor } from '../../message/client-ends.ts';
import type { Wheel } from '../../wheel.ts';
import { AddressRace, type RaceOwner } from '../address-race.ts';
import { exchange, headOf, http2 } from '../protocol/http2.ts';
import type { ProbeRequest, UpstreamProtocol } from '../protocol/upstream-protocol.ts';
import { checkRequest, isServing } from './grpc-health.ts';

export interface ProbePlan {
  readonly type: 'http' | 'tcp' | 'grpc';
  readonly path: string;
  readonly grpcService: string;
  /** Inclusive ranges of statuses that pass. */
  readonly statuses: readonly (readonly [from: number, to: number])[];
  readonly timeoutMs: number;
  /** Milliseconds that an address of a name has to itself; 0: the first two are tried at once. */
  readonly dualStackFallbackMs: number;
  readonly protocol: UpstreamProtocol;
  /** Version of the PROXY head that probes begin with; undefined: none. */
  readonly proxyProtocol?: 'v1' | 'v2' | undefined;
  /** Undefined: plaintext. */
  readonly tls: ConnectionOptions | undefined;
}

export interface ProbeTarget {
  /** `host:port`. */
  readonly name: string;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Undefined when the endpoint passes, else why not, for people. */
export type ProbeResult = string | undefined;

export interface ProbeTools {
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly lookup: LookupFunction;
  /** Resolves when this thread trusts the certificate authorities of the system. */
  readonly roots: () => Promise<unknown>;
}

export async function probe(target: ProbeTarget, plan: ProbePlan, tools: ProbeTools): Promise<ProbeResult> {
  if (plan.tls !== undefined && plan.tls.ca === undefined) await tools.roots();
  return new Promise((resolve) => {
    new Probe(target, plan, tools, resolve).begin();
  });
}

class Probe implements RaceOwner {
  readonly #target: ProbeTarget;
  readonly #plan: ProbePlan;
  readonly #tools: ProbeTools;
  readonly #onVerdict: (verdict: ProbeResult) => void;
  /** While none of the addresses has answered. */
  #race: AddressRace | undefined;
  #socket: Socket | undefined;
  #cancel: Cancel = () => {};
  #settled = false;

  constructor(target: ProbeTarget, plan: ProbePlan, tools: ProbeTools, onVerdict: (verdict: ProbeResult) => void) {
    this.#target = target;
    this.#plan = plan;
    this.#tools = tools;
    this.#onVerdict = onVerdict;
  }

  begin(): void {
    const { host } = this.#target;
    const { timeoutMs } = this.#plan;
    const { clock, lookup } = this.#tools;
    this.#cancel = clock.after(timeoutMs, () => this.#settle(`no answer within ${timeoutMs} ms`));
    const family = isIP(host);
    if (family > 0) this.#connect([{ address: host, family }]);
    else {
      lookup(host, { all: true }, (error, found) => {
        if (error !== null || typeof found === 'string') this.onUnreachable(error ?? new Error('no addresses'));
        else if (!this.#settled) this.#connect(found);
      });
    }
  }

  onUnreachable(error: NodeJS.ErrnoException): void {
    this.#settle(error.code ?? error.message);
  }

  onConnected(connection: Socket): void {
    this.#race = undefined;
    const { proxyProtocol } = this.#plan;
    if (proxyProtocol !== undefined) connection.write(headFor(proxyProtocol, undefined));
    const socket = this.#secured(connection);
    if (typeof socket === 'string') {
      connection.destroy();
      this.#settle(socket);
      return;
    }
    this.#socket = socket;
    socket.once('error', (error: NodeJS.ErrnoException) => this.#settle(error.code ?? error.message));
    if (socket === connection) this.#ask(socket);
    else socket.once('secureConnect', () => this.#ask(socket));
  }

  /** As requests find the address that answers: each has a while to itself, and none is given up for another. */
  #connect(addresses: readonly LookupAddress[]): void {
    const { port } = this.#target;
    const { dualStackFallbackMs: delayMs } = this.#plan;
    const { wheel } = this.#tools;
    this.#race = new AddressRace(addresses, this, { port, delayMs, wheel, newSocket: () => new Socket() });
    this.#race.begin();
  }

  /** Text: why it cannot be. Material for TLS is judged when it is used. */
  #secured(socket: Socket): Socket | string {
    const { tls, type, protocol } = this.#plan;
    if (tls === undefined) return socket;
    const { alpn } = type === 'grpc' ? http2 : protocol;
    // TLS reports errors of the socket beneath it too; without a listener they would be thrown.
    socket.on('error', () => {});
    try {
      return connectTls({ ...tls, socket, ALPNProtocols: type === 'tcp' ? undefined : [alpn] });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #ask(socket: Socket): void {
    const { type, tls } = this.#plan;
    // In TLS 1.3 the server checks the client certificate after the handshake.
    const isChecked = socket instanceof TLSSocket && tls?.cert !== undefined && socket.getProtocol() === 'TLSv1.3';
    if (type === 'tcp' && isChecked) {
      this.#awaitAcceptance(socket);
      return;
    }
    ask(socket, this.#target, this.#plan).then(
      (verdict) => this.#settle(verdict),
      (error: Error) => this.#settle(error.message),
    );
  }

  /**
   * A session ticket or a byte says that the server has accepted the certificate, an alert or the end that it has not. A server that says nothing at all
   * passes after a while.
   */
  #awaitAcceptance(socket: Socket): void {
    const accepted = (): void => this.#settle(undefined);
    socket.once('session', accepted);
    socket.once('data', accepted);
    socket.once('close', () => this.#settle(refusedAfterHandshake));
    socket.resume();
    const { timeoutMs } = this.#plan;
    const cancelTimeout = this.#cancel;
    const cancelAcceptance = this.#tools.clock.after(Math.min(acceptanceMs, timeoutMs / 2), accepted);
    this.#cancel = () => {
      cancelTimeout();
      cancelAcceptance();
    };
  }

  #settle(verdict: ProbeResult): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#cancel();
    this.#race?.abort();
    this.#socket?.destroy();
    this.#onVerdict(verdict);
  }
}

/** Milliseconds for an alert of a server that checks the client certificate. */
const acceptanceMs = 500;

const refusedAfterHandshake =
  'the server closed the connection after the handshake: it may refuse the client certificate';

function ask(socket: Socket, target: ProbeTarget, plan: ProbePlan): Promise<ProbeResult> {
  if (plan.type === 'tcp') return Promise.resolve(undefined);
  if (plan.type === 'grpc') return askGrpc(socket, target, plan);
  return askHttp(socket, target, plan);
}

const judge = (status: number, { statuses }: ProbePlan): ProbeResult =>
  statuses.some(([from, to]) => status >= from && status <= to) ? undefined : `status ${status}`;

const requestOf = ({ name }: ProbeTarget, { tls }: ProbePlan, path: string): ProbeRequest => ({
  scheme: tls === undefined ? 'http' : 'https',
  authority: name,
  path,
});

async function askHttp(socket: Socket, target: ProbeTarget, plan: ProbePlan): Promise<ProbeResult> {
  return judge(await plan.protocol.statusOf(socket, requestOf(target, plan, plan.path)), plan);
}

async function askGrpc(socket: Socket, target: ProbeTarget, plan: ProbePlan): Promise<ProbeResult> {
  const request = requestOf(target, plan, '/grpc.health.v1.Health/Check');
  const fields = { ...headOf('POST', request), 'content-type': 'application/grpc', te: 'trailers' };
  const { headers, body } = await exchange(socket, fields, checkRequest(plan.grpcService));
  if (headers[':status'] !== 200) return `status ${headers[':status']}`;
  if (headers['grpc-status'] !== '0') return `grpc-status ${headers['grpc-status']}`;
  return isServing(body) ? undefined : 'not serving';
}
