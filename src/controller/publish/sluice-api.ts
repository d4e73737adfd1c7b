// The few operations of Sluice's REST API that the controller uses, on any of several nodes.

import type { Agent } from 'undici';
import { packages } from '../../../program/disk-packages.ts';
import type { ProxyView } from '../../model/answers/fleet-answers.ts';
import { largeBatchMsPerOperation } from '../../model/batch-limits.ts';
import type { EditableKind } from '../../model/kinds.ts';

export interface SluiceAccess {
  /** Base URLs of nodes of one cluster, without slashes at their ends. */
  readonly urls: readonly string[];
  readonly apiKey: string | undefined;
  readonly tls: { readonly cert?: string; readonly key?: string; readonly ca?: string } | undefined;
}

/** Sluice answered, and with something else than success. */
export class SluiceRefusal extends Error {
  readonly status: number;
  /** Number of the operation of a batch that was refused. */
  readonly operation: number | undefined;

  constructor(status: number, message: string, operation: number | undefined) {
    super(`status ${status}: ${message}`);
    this.status = status;
    this.operation = operation;
  }
}

export interface StoredEntity {
  readonly id: string;
  readonly name: string;
  readonly owner?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Proxy; a server of an earlier version tells less of it. */
type FleetProxy = Pick<ProxyView, 'id' | 'state'> & Partial<Pick<ProxyView, 'installed' | 'problems' | 'listeners'>>;

export interface Fleet {
  readonly proxies: readonly FleetProxy[];
}

const callMs = 60_000;
const answerMax = 256 * 1024 * 1024;

export class SluiceApi {
  readonly #access: SluiceAccess;
  readonly #agent: Agent;
  #at = 0;

  constructor(access: SluiceAccess) {
    this.#access = access;
    this.#agent = new (packages.undici().Agent)({
      headersTimeout: callMs,
      bodyTimeout: callMs,
      keepAliveTimeout: 4_000,
      connect: { timeout: 5_000, ...access.tls },
    });
  }

  list(kind: EditableKind, query = ''): Promise<readonly StoredEntity[]> {
    return this.#call('GET', `/${kind}${query}`);
  }

  get<T>(path: string): Promise<T> {
    return this.#call('GET', path);
  }

  batch<T>(body: object, query = ''): Promise<T> {
    return this.#call('POST', `/batch${query}`, body);
  }

  /** As a batch of very many operations; its answer counts what was changed. */
  largeBatch<T>(body: object, operations: number): Promise<T> {
    return this.#call('POST', '/batch/large', body, callMs + operations * largeBatchMsPerOperation);
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#call('POST', path, body);
  }

  fleet(): Promise<Fleet> {
    return this.#call('GET', '/fleet');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Calls one node, and the next ones while a node cannot be reached or answers 503. */
  async #call<T>(method: 'GET' | 'POST', path: string, body?: object, withinMs = callMs): Promise<T> {
    const { urls } = this.#access;
    let failure: unknown;
    for (let tries = 0; tries < urls.length; tries++) {
      try {
        return await this.#callNode<T>(urls[this.#at % urls.length] ?? '', method, path, body, withinMs);
      } catch (error) {
        failure = error;
        if (error instanceof SluiceRefusal && error.status !== 503) throw error;
        this.#at++;
      }
    }
    throw failure;
  }

  async #callNode<T>(
    base: string,
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    withinMs: number,
  ): Promise<T> {
    const { apiKey } = this.#access;
    const url = new URL(base);
    const { statusCode, body: answer } = await this.#agent.request({
      origin: url.origin,
      path: `${url.pathname.replace(/\/$/, '')}/api/v1${path}`,
      method,
      headers: {
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headersTimeout: withinMs,
      signal: AbortSignal.timeout(withinMs),
    });
    const text = await answer.text();
    if (text.length > answerMax) throw new Error('the answer of Sluice is too large');
    if (statusCode >= 200 && statusCode < 300) return (text === '' ? undefined : JSON.parse(text)) as T;
    const { error = text.slice(0, 500), operation } = parsed(text);
    throw new SluiceRefusal(statusCode, error, operation);
  }
}

function parsed(text: string): { readonly error?: string; readonly operation?: number } {
  try {
    return JSON.parse(text) as { error?: string; operation?: number };
  } catch {
    return {};
  }
}
