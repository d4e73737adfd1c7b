// `node test/bench/attacks.ts --rounds 3 --seconds 2 --offenders 1 [ATTACK ...]`: what a well-behaved client of HTTP/2
// notices of each attack on another connection (S05 to S09 and their like): p50 and p99 calm and attacked in turn, how long
// an offender stays, and how much memory the process takes more. Proxy, upstream, offenders and the client are processes of
// their own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { Http2Client } from '../support/http2-client.ts';
import { memoryKbOf } from '../support/proc-figures.ts';
import { spawnNode, startSluice } from '../support/sluice-process.ts';
import { type AttackName, attacks } from './attacks/attacks.ts';

const clients = 4;
/** Between two connections of an offender, and between two parts of what it says. */
const pauseMs = 50;

interface Told {
  readonly connections: number;
  /** How long those lived that have been ended. */
  readonly livedMs: readonly number[];
}

async function upstream(): Promise<void> {
  const large = Buffer.alloc(1 << 20, 'x');
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/good') response.end('good');
    else if (request.url === '/large') response.end(large);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  console.log((server.address() as AddressInfo).port);
}

/** Opens connections, one after another, and goes on on each until it is closed. */
function offend(
  port: number,
  name: AttackName,
  untilMs: number,
  told: { connections: number; livedMs: number[] },
): void {
  if (performance.now() >= untilMs) return;
  const { opening, part, times } = attacks[name];
  const socket = connect(port, '127.0.0.1');
  const startedMs = performance.now();
  let said = 0;
  told.connections++;
  const more = (): void => {
    if (socket.destroyed || performance.now() >= untilMs) return;
    const parts: Buffer[] = [];
    for (let i = 0; i < times; i++) parts.push(part(2 * said++ + 1));
    if (socket.write(Buffer.concat(parts))) setTimeout(more, pauseMs);
    else socket.once('drain', () => setTimeout(more, pauseMs));
  };
  socket.write(opening);
  more();
  socket.resume();
  socket.on('error', () => {});
  socket.on('close', () => {
    if (performance.now() < untilMs) told.livedMs.push(performance.now() - startedMs);
    setTimeout(() => offend(port, name, untilMs, told), pauseMs);
  });
}

async function attack(port: number, name: AttackName, seconds: number, offenders: number): Promise<void> {
  const told = { connections: 0, livedMs: [] };
  const untilMs = performance.now() + seconds * 1_000;
  for (let i = 0; i < offenders; i++) offend(port, name, untilMs, told);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  console.log(JSON.stringify(told satisfies Told));
  process.exit(0);
}

const firstLine = async (...args: readonly string[]) => {
  const child = spawnNode([import.meta.filename, ...args]);
  child.stderr?.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  return { child, line: once(lines, 'line').then(([line]) => String(line)) };
};

/** Milliseconds that requests took, one after another on each of a few connections, for so long. */
async function latencies(port: number, seconds: number): Promise<number[]> {
  const untilMs = performance.now() + seconds * 1_000;
  const found: number[] = [];
  const visit = async (): Promise<void> => {
    const client = new Http2Client(`http://127.0.0.1:${port}`);
    while (performance.now() < untilMs) {
      const fromMs = performance.now();
      const { body } = await client.ask({ ':path': '/good' });
      if (body !== 'good') throw new Error(`a well-behaved client got ${JSON.stringify(body)}`);
      found.push(performance.now() - fromMs);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    client.close();
  };
  await Promise.all(Array.from({ length: clients }, visit));
  return found;
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
const median = (values: readonly number[]): number => percentile(values, 0.5);

async function main(rounds: number, seconds: number, wanted: readonly AttackName[]): Promise<void> {
  const behind = await firstLine('upstream');
  const sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
  try {
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: Number(await behind.line) });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
    const memoryMib = (): number => memoryKbOf(sluice.child.pid) / 1024;
    await latencies(port, 5);
    console.log(
      'attack                      calm p50 p99 ms   attacked p50 p99 ms    p99 ratio   offenders   gone: longest   memory',
    );
    for (const name of wanted) {
      const [calm, attacked, ratios, livedMs] = [[], [], [], []] as [number[], number[], number[], number[]];
      let [connections, before, most] = [0, 0, 0];
      for (let round = 0; round < rounds; round++) {
        const calmMs = await latencies(port, seconds);
        if (round === 0) before = memoryMib();
        const watch = setInterval(() => {
          most = Math.max(most, memoryMib());
        }, 20);
        const { child, line } = await firstLine(
          'attack',
          String(port),
          name,
          String(attacks[name].seconds ?? seconds),
          values.offenders,
        );
        const attackedMs = await latencies(port, attacks[name].seconds ?? seconds);
        const told: Told = JSON.parse(await line);
        await once(child, 'close');
        clearInterval(watch);
        calm.push(...calmMs);
        attacked.push(...attackedMs);
        ratios.push(percentile(attackedMs, 0.99) / percentile(calmMs, 0.99));
        livedMs.push(...told.livedMs);
        connections += told.connections;
      }
      const both = (values: readonly number[]) =>
        [0.5, 0.99].map((share) => percentile(values, share).toFixed(2).padStart(7)).join(' ');
      const gone = livedMs.length === 0 ? 'none' : `${(Math.max(...livedMs) / 1_000).toFixed(2)} s`;
      console.log(
        `${name.padEnd(28)}${both(calm)}       ${both(attacked)}        ${median(ratios).toFixed(2).padStart(6)}` +
          `${String(connections).padStart(11)}${gone.padStart(16)}${`+${(most - before).toFixed(0)} MiB`.padStart(11)}`,
      );
    }
  } finally {
    await sluice.stop();
    behind.child.kill('SIGKILL');
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    offenders: { type: 'string', default: '1' },
  },
});
const [role, ...rest] = positionals;
if (role === 'upstream') await upstream();
else if (role === 'attack') await attack(Number(rest[0]), rest[1] as AttackName, Number(rest[2]), Number(rest[3]));
else {
  const names = Object.keys(attacks) as AttackName[];
  await main(
    Number(values.rounds),
    Number(values.seconds),
    positionals.length === 0 ? names : names.filter((name) => positionals.includes(name)),
  );
}
