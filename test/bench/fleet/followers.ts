// Many proxies in one process that only follow the stream, for `npm run bench:fleet`: raw sockets that read into one buffer
// and look for the end of each event, so that they take little of the machine that they share with the node. Driven by
// messages of the parent process; what they say are moments of the machine's clock.
import { connect, type Socket } from 'node:net';

interface Order {
  readonly url: string;
  readonly count: number;
  /** `X-Sluice-Has`, if anything. */
  readonly has: string | undefined;
}

/** Ends every event and the chunk of the transfer coding that it is in. */
const endOfEvent = Buffer.from('\n\n\r\n');
const buffer = Buffer.alloc(256 * 1024);

class Follower {
  readonly socket: Socket;
  readonly #tail = Buffer.alloc(endOfEvent.length);
  bytes = 0;
  events = 0;
  lastMs = 0;

  constructor(at: number, { url, has }: Order) {
    const { hostname, port, host } = new URL(url);
    const read = (length: number): boolean => {
      this.#heard(buffer.subarray(0, length));
      return true;
    };
    this.socket = connect({ port: Number(port), host: hostname, onread: { buffer, callback: read } });
    this.socket.on('error', () => undefined);
    const more = has === undefined ? '' : `x-sluice-has: ${has}\r\n`;
    this.socket.write(
      `GET /sync/snapshot HTTP/1.1\r\nhost: ${host}\r\nx-sluice-proxy: p${at}\r\nx-sluice-boot: ${at}\r\n${more}\r\n`,
    );
  }

  #heard(chunk: Buffer): void {
    this.bytes += chunk.length;
    const kept = Math.max(0, endOfEvent.length - chunk.length);
    this.#tail.copyWithin(0, endOfEvent.length - kept);
    chunk.copy(this.#tail, kept, Math.max(0, chunk.length - endOfEvent.length));
    if (!this.#tail.equals(endOfEvent)) return;
    this.events++;
    this.lastMs = Date.now();
  }
}

let followers: Follower[] = [];

process.on('message', (message: Order | 'look' | 'forget' | 'close') => {
  if (message === 'look') {
    process.send?.({
      least: Math.min(...followers.map(({ events }) => events)),
      lastMs: Math.max(...followers.map(({ lastMs }) => lastMs)),
      bytes: followers.reduce((sum, { bytes }) => sum + bytes, 0),
      cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000,
    });
  } else if (message === 'close') {
    for (const { socket } of followers.splice(0)) socket.destroy();
  } else if (message === 'forget') {
    for (const follower of followers) follower.bytes = 0;
  } else {
    followers = Array.from({ length: message.count }, (_, at) => new Follower(at, message));
  }
});
