// `node test/bench/attacks.ts --rounds 3 --seconds 2 --offenders 1 [ATTACK ...]`: what a well-behaved client of HTTP/2
// notices of each attack on another connection (S05 to S09 and their like): p50 and p99 calm and attacked in turn, how long
// an offender stays, and how much memory the process takes more. Proxy, upstreams, offenders and the client are processes of
// their own, which run before anything is measured: one that starts takes a processor for as long as a third of a round.
// Offenders and their upstream take what the others leave of the processors: they would have machines of their own.
// The well-behaved client has an upstream to itself, for one that has to write a hundred large responses at once answers
// no other client meanwhile, behind any proxy. Rows called ordinary show what as many connections and requests cost
// without an attack: an attack that costs no more is the price of serving. CPU is that of the whole process for each
// connection of an offender, beyond what it takes calm.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { Http2Client } from '../support/http2-client.ts';
import { cpuMsOf, memoryKbOf } from '../support/proc-figures.ts';
import { startSluice } from '../support/sluice-process.ts';
import { type AttackName, attacks } from './attacks/attacks.ts';
import type { Order, Told } from './attacks/offenders.ts';

const clients = 4;

const program = (name: string): ChildProcess => fork(new URL(`attacks/${name}.ts`, import.meta.url));
const word = async <Word>(child: ChildProcess): Promise<Word> => (await once(child, 'message'))[0];

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

async function main(rounds: number, seconds: number, offenders: number, wanted: readonly AttackName[]): Promise<void> {
  const helpers = [program('upstream'), program('upstream'), program('offenders')] as const;
  const [upstream, ownUpstream, offending] = helpers;
  const [attackedPort, ownPort] = await Promise.all([
    word<number>(upstream),
    word<number>(ownUpstream),
    word(offending),
  ]);
  for (const { pid } of [upstream, offending]) if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  const sluice = await startSluice({ more: 'proxy: { workers: 1 }' });
  try {
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true });
    for (const [id, upstreamPort, match] of [
      ['attacked', attackedPort, {}],
      ['own', ownPort, { path: '/good' }],
    ] as const) {
      await api.create('destinations', { id, name: id, host: '127.0.0.1', port: upstreamPort });
      await api.create('routes', { name: id, match, forward: { destinations: [{ destinationId: id }] } });
    }
    await api.activateAs('v1');
    const memoryMib = (): number => memoryKbOf(sluice.child.pid) / 1024;
    await latencies(port, 5);
    console.log(
      'attack                      calm p50 p99 ms   attacked p50 p99 ms    p99 ratio   offenders   gone: longest   memory   CPU each',
    );
    for (const name of wanted) {
      const [calm, attacked, ratios, livedMs] = [[], [], [], []] as [number[], number[], number[], number[]];
      let [connections, before, most, cpuMs] = [0, 0, 0, 0];
      for (let round = 0; round < rounds; round++) {
        const calmFromMs = cpuMsOf(sluice.child.pid);
        const calmMs = await latencies(port, seconds);
        const fromMs = cpuMsOf(sluice.child.pid);
        if (round === 0) before = memoryMib();
        const watch = setInterval(() => {
          most = Math.max(most, memoryMib());
        }, 20);
        const attackSeconds = attacks[name].seconds ?? seconds;
        const told = word<Told>(offending);
        offending.send({ port, name, seconds: attackSeconds, offenders } satisfies Order);
        const attackedMs = await latencies(port, attackSeconds);
        const { livedMs: ended, connections: begun } = await told;
        cpuMs += cpuMsOf(sluice.child.pid) - fromMs - ((fromMs - calmFromMs) * attackSeconds) / seconds;
        clearInterval(watch);
        calm.push(...calmMs);
        attacked.push(...attackedMs);
        ratios.push(percentile(attackedMs, 0.99) / percentile(calmMs, 0.99));
        livedMs.push(...ended);
        connections += begun;
      }
      const both = (values: readonly number[]) =>
        [0.5, 0.99].map((share) => percentile(values, share).toFixed(2).padStart(7)).join(' ');
      const gone = livedMs.length === 0 ? 'none' : `${(Math.max(...livedMs) / 1_000).toFixed(2)} s`;
      console.log(
        `${name.padEnd(28)}${both(calm)}       ${both(attacked)}        ${median(ratios).toFixed(2).padStart(6)}` +
          `${String(connections).padStart(11)}${gone.padStart(16)}${`+${(most - before).toFixed(0)} MiB`.padStart(11)}` +
          `${`${(cpuMs / connections).toFixed(1)} ms`.padStart(11)}`,
      );
    }
  } finally {
    await sluice.stop();
    for (const helper of helpers) helper.kill('SIGKILL');
  }
}

const { values, positionals } = optionsOf(import.meta.url, {
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    offenders: { type: 'string', default: '1' },
  },
});
const names = Object.keys(attacks) as AttackName[];
await main(
  Number(values.rounds),
  Number(values.seconds),
  Number(values.offenders),
  positionals.length === 0 ? names : names.filter((name) => positionals.includes(name)),
);
