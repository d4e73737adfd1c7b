// Clients that write and read through any node at once and note what they asked, when, and what they were told: the
// history from which raft/testing/history judges. A register is a route; what it holds is the number of the operation
// that wrote it last.
import type { Operation } from '../../raft/testing/history/history.ts';
import { type Answer, call } from './http-call.ts';

/** Number of operations on one register: the search for an order must end. */
const operationsOfRegister = 120;
const clientsOfRegister = 4;

export interface RegisterClientsOptions {
  /** URLs of the API of the nodes. */
  readonly nodes: readonly string[];
  readonly random: () => number;
  /** Number of clients. Default 16. */
  readonly clients?: number;
  /** A client gives up on an answer after this. Default 3,000. */
  readonly withinMs?: number;
  /** Milliseconds between the operations of one client. Default 5. */
  readonly pauseMs?: number;
}

interface Register {
  readonly number: number;
  operations: number;
}

type Asked = Pick<Operation, 'outcome'> & { readonly answer?: Answer };

export class RegisterClients {
  readonly history: Operation[] = [];
  /** Operations by the index at which they took effect, as far as answers told: of the write, or of a read that saw it. */
  readonly effects = new Map<number, number>();
  /** Times of acknowledged writes, `performance.now()`, ascending. */
  readonly acknowledgedAt: number[] = [];
  /** Count of each failure. */
  readonly failures = new Map<string, number>();
  /** Answers that no fault excuses. */
  readonly wrong: string[] = [];
  readonly #options: Required<RegisterClientsOptions>;
  readonly #registers: number[] = [];
  #operation = 0;
  #register = 0;
  #isActive = true;
  #ended: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  private constructor(options: RegisterClientsOptions) {
    this.#options = { clients: 16, withinMs: 3_000, pauseMs: 5, ...options };
  }

  static start(options: RegisterClientsOptions): RegisterClients {
    const clients = new RegisterClients(options);
    clients.#ended = clients.#run();
    return clients;
  }

  /** Ends the load; then reads every register once more, on a node drawn for each. All that once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#isActive = false;
    await this.#ended;
    for (const register of this.#registers) await this.#readUntilAnswered(register);
  }

  #run(): Promise<unknown> {
    const groups = Math.ceil(this.#options.clients / clientsOfRegister);
    return Promise.all(Array.from({ length: groups }, () => this.#runGroup()));
  }

  async #runGroup(): Promise<void> {
    while (this.#isActive) {
      const register = await this.#create();
      if (register === undefined) continue;
      await Promise.all(Array.from({ length: clientsOfRegister }, () => this.#runClient(register)));
    }
  }

  async #runClient(register: Register): Promise<void> {
    const { random, pauseMs } = this.#options;
    while (this.#isActive && register.operations < operationsOfRegister) {
      register.operations++;
      if (random() < 0.6) await this.#write(register.number, 'PUT');
      else await this.#read(register.number);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Creates a register; undefined when the outcome is unknown: such a register is not used. */
  async #create(): Promise<Register | undefined> {
    const number = ++this.#register;
    const outcome = await this.#write(number, 'POST');
    if (outcome !== 'ok') {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return undefined;
    }
    this.#registers.push(number);
    return { number, operations: 1 };
  }

  async #write(register: number, method: 'POST' | 'PUT'): Promise<Operation['outcome']> {
    const op = ++this.#operation;
    const id = nameOf(register);
    const body = { ...(method === 'POST' && { id }), name: id, directResponse: { status: 200, body: String(op) } };
    const invokedAt = performance.now();
    const { outcome, answer } = await this.#ask(method, method === 'POST' ? '/routes' : `/routes/${id}`, body);
    const index = outcome === 'ok' ? Number(answer?.headers['x-sluice-revision']) : undefined;
    const returnedAt = performance.now();
    this.history.push({ op, register, kind: 'write', invokedAt, returnedAt, outcome, index, value: undefined });
    if (index !== undefined) {
      this.acknowledgedAt.push(returnedAt);
      this.#note(index, op);
    }
    return outcome;
  }

  async #read(register: number): Promise<Operation['outcome']> {
    const op = ++this.#operation;
    const invokedAt = performance.now();
    const { outcome, answer } = await this.#ask('GET', `/routes/${nameOf(register)}`);
    if (outcome !== 'ok' || answer === undefined) return outcome;
    const { directResponse } = answer.json as { directResponse: { body: string } };
    const value = Number(directResponse.body);
    const index = Number(answer.headers['x-sluice-revision']);
    this.history.push({
      op,
      register,
      kind: 'read',
      invokedAt,
      returnedAt: performance.now(),
      outcome,
      index,
      value,
    });
    this.#note(Number(JSON.parse(String(answer.headers.etag))), value);
    return outcome;
  }

  async #readUntilAnswered(register: number): Promise<void> {
    const end = performance.now() + 30_000;
    while (this.wrong.length === 0 && (await this.#read(register)) !== 'ok') {
      if (performance.now() > end) throw new Error(`register ${register} cannot be read`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #note(index: number, op: number): void {
    const known = this.effects.get(index);
    if (known !== undefined && known !== op) this.wrong.push(`operations ${known} and ${op} both at index ${index}`);
    this.effects.set(index, op);
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Asked> {
    const { nodes, random, withinMs } = this.#options;
    const node = nodes[Math.floor(random() * nodes.length)] ?? '';
    try {
      const answer = await call(node, method, `/api/v1${path}`, { body, withinMs });
      if (answer.status < 300) return { outcome: 'ok', answer };
      this.#count(`${answer.status} ${answer.text.slice(0, 120)}`);
      // A repeated delivery answers as the first one did, so a 503 or a 504 is all that may go wrong.
      if (answer.status === 503) return { outcome: 'notApplied' };
      if (answer.status !== 504) this.wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
      return { outcome: 'unknown' };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      this.#count(code);
      return { outcome: code === 'ECONNREFUSED' ? 'notApplied' : 'unknown' };
    }
  }

  #count(failure: string): void {
    this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1);
  }
}

const nameOf = (register: number): string => `register-${register}`;
