// A client of TLS 1.3 that opens connections and closes them once they are secured: `node handshakes.ts <port>
// <full|resumed> <seconds>`. A resumed one uses the ticket of the first connection. Prints JSON.
import { connect, createSecureContext } from 'node:tls';

const [port = 0, , seconds = 1] = process.argv.slice(2).map(Number);
const resumed = process.argv[3] === 'resumed';
const clients = 16;
const secureContext = createSecureContext();
const options = { port, host: '127.0.0.1', rejectUnauthorized: false, secureContext };
let done = 0;
let failed = '';

/** A server may say nothing unless it is asked something: the ticket comes before the answer. */
const firstTicket = (): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const socket = connect(options, () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.once('session', (ticket: Buffer) => {
      resolve(ticket);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.resume();
  });

function client(session: Buffer | undefined, until: number): void {
  const socket = connect({ ...options, session }, () => {
    if (session !== undefined && !socket.isSessionReused()) failed = 'not resumed';
    socket.end();
  });
  socket.on('error', ({ message }) => {
    failed = message;
  });
  socket.resume();
  socket.on('close', () => {
    done++;
    if (performance.now() < until) client(session, until);
  });
}

const ticket = resumed ? await firstTicket() : undefined;
const until = performance.now() + seconds * 1_000;
for (let i = 0; i < clients; i++) client(ticket, until);
process.on('exit', () => console.log(JSON.stringify({ done, failed })));
