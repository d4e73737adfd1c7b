// Client of the API over several servers: any node takes any request, so the next one is asked where one does not answer.
// A write carries an Idempotency-Key, by which a repetition on another node has no second effect.
import type { IncomingMessage } from 'node:http';
import { CommandFailure, exitCodes } from '../exit.ts';
import { findingLine } from '../output/finding-lines.ts';
import {
  ApiRefusal,
  findingsIn,
  messageOf,
  redirected,
  type Unanswered,
  unanswered,
  warningsIn,
  waysOut,
} from './failed-answers.ts';
import { CallError, type CallTarget, call } from './http-call.ts';

/** Reads alone do not load the cryptography of Node. */
const newKey = (): string => process.getBuiltinModule('node:crypto').randomUUID();

/** Milliseconds after which a person is told what is waited for. */
const longMs = 2_000;

/** Milliseconds between two attempts of a write whose outcome is unknown. */
const repeatMs = 500;

export interface ApiOptions {
  readonly servers: readonly CallTarget[];
  readonly apiKey?: string | undefined;
  readonly timeoutMs: number;
  readonly warn: (text: string) => void;
  readonly trace: (line: string) => void;
  /** Words of the command, for messages. */
  readonly command: string;
  /** Called with 1 before a change is sent, and with -1 when it is answered or given up. */
  readonly onWrite?: (change: 1 | -1) => void;
  /** Told where an answer takes long. */
  readonly onWait?: (text: string) => void;
}

export interface Asked {
  /** A list is a parameter that is given several times. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Value that is sent as JSON. */
  readonly json?: unknown;
  /** Body that is ready to be sent. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses besides 2xx that are answers, not failures. */
  readonly allows?: readonly number[];
  /** Milliseconds besides `--timeout`, of an operation that waits at the server. */
  readonly extraMs?: number;
}

export interface Reply<T> {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: T;
}

export class Api {
  readonly #options: ApiOptions;
  /** Servers, the one that answered last first. */
  #order: readonly CallTarget[];

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#order = options.servers;
  }

  get servers(): readonly string[] {
    return this.#options.servers.map(({ url }) => url.href);
  }

  /** Base URL of the server that answered last. */
  get answering(): URL {
    const [first] = this.#order;
    if (first === undefined) throw new Error('a client has at least one server');
    return new URL(`${first.url.href.replace(/\/$/, '')}/`);
  }

  /** One client for each server. */
  get each(): readonly Api[] {
    return this.#options.servers.map((server) => new Api({ ...this.#options, servers: [server] }));
  }

  /** Client of another node of the cluster, by the address of its API as the cluster tells it. */
  atAddress(address: string, timeoutMs: number): Api {
    const [like] = this.#order;
    if (like === undefined) throw new Error('a client has at least one server');
    const url = new URL(`${like.url.protocol}//${address}`);
    return new Api({ ...this.#options, timeoutMs, servers: [{ ...like, url }] });
  }

  /** Resolves with the body of a GET. Rejects with CommandFailure. */
  async get<T>(path: string, query?: Asked['query']): Promise<T> {
    return (await this.ask<T>('GET', path, query === undefined ? {} : { query })).body;
  }

  /** Resolves with the answer, its body parsed. Rejects with CommandFailure. */
  async ask<T>(method: string, path: string, asked: Asked = {}): Promise<Reply<T>> {
    const answer = await this.#answered(method, path, asked);
    const text = await this.#textOf(answer);
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: this.#parsed<T>(text) };
  }

  /** Resolves with the body of a GET as text. Rejects with CommandFailure. */
  async text(path: string): Promise<string> {
    return await this.#textOf(await this.#answered('GET', path, { headers: { accept: '*/*' } }));
  }

  /** Resolves with an answer whose body is read as it comes. Rejects with CommandFailure. */
  async stream(path: string, query: Asked['query'] = {}): Promise<IncomingMessage> {
    return await this.#answered('GET', path, { query, headers: { accept: '*/*' } });
  }

  async #answered(method: string, path: string, asked: Asked): Promise<IncomingMessage> {
    const { onWrite } = this.#options;
    if (onWrite === undefined || !isChange(method, path, asked)) return await this.#asked(method, path, asked);
    onWrite(1);
    try {
      return await this.#asked(method, path, asked);
    } finally {
      onWrite(-1);
    }
  }

  async #asked(method: string, path: string, asked: Asked): Promise<IncomingMessage> {
    const { apiKey, timeoutMs, trace } = this.#options;
    const body = asked.body ?? (asked.json === undefined ? undefined : JSON.stringify(asked.json));
    const headers = {
      accept: 'application/json',
      'user-agent': 'sluice',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(method === 'POST' && { 'idempotency-key': newKey() }),
      ...asked.headers,
    };
    const target = `/api/v1${path}${queryOf(asked.query)}`;
    const limitMs = timeoutMs + (asked.extraMs ?? 0);
    const until = performance.now() + limitMs;
    let isUnknown = false;
    for (;;) {
      const failures: Unanswered[] = [];
      // One that broke off is asked once more: it may have closed an idle connection just then.
      for (const server of [...this.#order, ...this.#order]) {
        if (failures.some((each) => each.server === server && each.isFinal)) continue;
        const startedAt = performance.now();
        // A silent server leaves the next one its time: the common end is that of repetitions alone.
        const ownMs = isUnknown ? Math.max(repeatMs, Math.ceil(until - startedAt)) : limitMs;
        const waiting = setTimeout(() => this.#options.onWait?.(`waiting for ${server.url.origin}`), longMs);
        try {
          const answer = await call(server, { method, path: target, headers, body, timeoutMs: ownMs });
          const status = answer.statusCode ?? 0;
          trace(`${method} ${server.url.origin}${target} ${status} ${Math.round(performance.now() - startedAt)} ms`);
          if (!unavailable.has(status)) return await this.#judged(answer, server, method, path, asked);
          const why = await textOf(answer).then(
            (text) => messageOf(text, answer),
            () => 'the answer broke off',
          );
          failures.push({ server, status, why, isFinal: true, wasSent: status !== 503 });
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
          trace(`${method} ${server.url.origin}${target} ${error.message}`);
          const isFinal =
            !error.wasSent || error.distrust !== undefined || error.message.startsWith('no answer within');
          failures.push({ server, why: error.message, isFinal, wasSent: error.wasSent, distrust: error.distrust });
        } finally {
          clearTimeout(waiting);
        }
      }
      const wasUnknown = isUnknown;
      isUnknown ||= method !== 'GET' && failures.some(({ wasSent }) => wasSent);
      // Under its Idempotency-Key the write is answered as the first time, or carried out now.
      const isRepeated = isUnknown && method === 'POST' && performance.now() + repeatMs < until;
      if (!isRepeated) throw unanswered(failures, isUnknown);
      if (!wasUnknown) this.#options.warn('the outcome of the write is not known yet; the servers are asked again');
      await new Promise((resolve) => setTimeout(resolve, repeatMs));
    }
  }

  async #judged(
    answer: IncomingMessage,
    server: CallTarget,
    method: string,
    path: string,
    { allows = [] }: Asked,
  ): Promise<IncomingMessage> {
    this.#order = [server, ...this.#options.servers.filter((each) => each !== server)];
    for (const text of warningsIn(answer.headers.warning)) this.#options.warn(text);
    const status = answer.statusCode ?? 0;
    if ((status >= 200 && status < 300) || allows.includes(status)) return answer;
    const text = await this.#textOf(answer);
    if (status < 400) throw redirected(server, answer);
    const message = messageOf(text, answer);
    if ((status === 404 && message.startsWith('no such path')) || status === 405) {
      const needed = `${method} /api/v1${path.replace(/\/[^/]*[0-9][^/]*(?=\/|$)/g, '/…')}`;
      throw new CommandFailure(
        exitCodes.refused,
        `sluice ${this.#options.command} needs ${needed}, which the server at ${server.url.origin} does not have: it is of an older version`,
      );
    }
    const hints = waysOut(status, message, this.#options.apiKey !== undefined);
    throw new ApiRefusal(status, message, [...findingsIn(text).map(findingLine), ...hints]);
  }

  async #textOf(answer: IncomingMessage): Promise<string> {
    try {
      return await textOf(answer);
    } catch (error) {
      throw new CommandFailure(
        exitCodes.unreachable,
        `the answer broke off: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  #parsed<T>(text: string): T {
    if (text === '') return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new CommandFailure(
        exitCodes.failed,
        `the answer is no JSON; is ${this.servers.join(', ')} the API of Sluice?`,
      );
    }
  }
}

function queryOf(query: Asked['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value = []]) => [value].flat().map((each) => [name, each]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Statuses of a node that cannot do it now, and of a proxy before it that cannot reach it. */
const unavailable = new Set([502, 503, 504]);

/** Questions that are sent as POST. */
const questions = new Set(['/explain', '/diff']);

const isChange = (method: string, path: string, { query }: Asked): boolean =>
  method !== 'GET' && !questions.has(path) && query?.dryRun === undefined;
