// A name server on loopback that knows one name, and how a process is made to ask it: the answers are the test's.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

const typeA = 1;
const headBytes = 12;

export class StubResolver {
  /** IPv4 addresses of the name; may be changed at any time. */
  addresses: readonly string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, from) => this.#answer(query, from));
  }

  static async start(): Promise<StubResolver> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new StubResolver(socket);
  }

  /** Variables for the environment of a process that uses this resolver. */
  get environment(): Record<string, string> {
    const preload = new URL('ask-stub-resolver.mjs', import.meta.url).href;
    return { NODE_OPTIONS: `--import=${preload}`, STUB_RESOLVER: `127.0.0.1:${this.#socket.address().port}` };
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  /** Answers queries for any name: A records, and none of every other type. */
  #answer(query: Buffer, { port, address }: RemoteInfo): void {
    const end = endOfQuestion(query);
    const addresses = query.readUInt16BE(end - 4) === typeA ? this.addresses : [];
    const head = Buffer.alloc(headBytes);
    head.writeUInt16BE(query.readUInt16BE(0), 0);
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((ip) => recordOf(ip));
    this.#socket.send(Buffer.concat([head, query.subarray(headBytes, end), ...answers]), port, address);
  }
}

/** The name is a list of labels that ends with an empty one; type and class follow. */
function endOfQuestion(query: Buffer): number {
  let at = headBytes;
  while (query[at] !== 0) at += 1 + (query[at] ?? 0);
  return at + 5;
}

/** Name by reference to the question · A · IN · good for no time · four bytes. */
function recordOf(ip: string): Buffer {
  return Buffer.from([0xc0, headBytes, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]);
}
