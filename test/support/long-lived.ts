// Long-lived exchanges for tests of many activations: a backend that counts its connections, conversations, slow downloads.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { listening } from './proxy-bed.ts';
import { echoWebSocket } from './web-socket-echo.ts';

/**
 * Answers `ok`, echoes WebSockets, and drips at `/drip` one number after the other. The first `together` plain requests
 * are answered when all of them are here, so that each has a connection of its own and no more are needed later.
 */
export class CountingBackend {
  readonly #together: number;
  readonly #held: ServerResponse[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response)).on('upgrade', echoWebSocket);
  #opened = 0;
  #closed = 0;

  constructor(together: number) {
    this.#together = together;
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.#opened++;
      socket.once('close', () => this.#closed++);
    });
  }

  /** Resolves with its port. */
  start(): Promise<number> {
    return listening(this.#server);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get connections(): { readonly opened: number; readonly closed: number } {
    return { opened: this.#opened, closed: this.#closed };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === '/drip') {
      let next = 0;
      const drip = setInterval(() => response.write(`${next++} `), 20);
      response.once('close', () => clearInterval(drip));
    } else if (this.#held.length < this.#together) {
      this.#held.push(response);
      if (this.#held.length === this.#together) for (const held of this.#held) held.end('ok');
    } else response.end('ok');
  }
}

/** One WebSocket, which has to stay. */
export class Chat {
  readonly socket: WebSocket;
  over = false;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('close', () => {
      this.over = true;
    });
  }

  static async begin(site: string): Promise<Chat> {
    const chat = new Chat(new WebSocket(site.replace('http', 'ws')));
    await once(chat.socket, 'open');
    return chat;
  }

  /** Sends it and waits for its echo. */
  async says(text: string): Promise<void> {
    const echoed = once(this.socket, 'message', { signal: AbortSignal.timeout(120_000) });
    this.socket.send(text);
    const [{ data }] = await echoed;
    expect(data).to.equal(text);
  }
}

/** One download from `/drip`, which has to go on. */
export class Drip {
  readonly #response: IncomingMessage;
  #text = '';

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('latin1').on('error', () => {});
    response.on('data', (chunk: string) => {
      this.#text += chunk;
    });
  }

  static async begin(site: string): Promise<Drip> {
    const [response] = await once(get(`${site}/drip`, { agent: false }), 'response');
    return new Drip(response);
  }

  /** More comes, and nothing was left out so far. */
  async goesOn(): Promise<void> {
    const { length } = this.#text;
    await eventually(() => expect(this.#text.length).to.be.greaterThan(length));
    const numbers = this.#text.slice(0, this.#text.lastIndexOf(' ')).split(' ').map(Number);
    expect(numbers).to.deep.equal([...numbers.keys()]);
  }

  stop(): void {
    this.#response.destroy();
  }
}
