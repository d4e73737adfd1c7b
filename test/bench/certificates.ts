// `node --import ./test/support/decorators.mjs test/bench/certificates.ts --count 500 --seconds 10`: many certificates on one port: what the choice by server name
// costs, what a running Sluice takes more memory with all of them in use, and how many connections fail while all of them
// are replaced again and again under 200 new ones a second. Targets (issue: check 6): 2 µs, 30 KB each, none.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { readCertificate } from '../../src/proxy/tls/certificate.ts';
import { Contexts } from '../../src/proxy/tls/contexts.ts';
import { ServerNames } from '../../src/proxy/tls/server-names.ts';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { memoryKbOf } from '../support/proc-figures.ts';
import { ask, bodyOf } from '../support/secure-client.ts';
import { startSluice } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: { count: { type: 'string', default: '500' }, seconds: { type: 'string', default: '10' } },
});
const count = Number(values.count);
const seconds = Number(values.seconds);
const perSecond = 200;
const looks = 200_000;

const preload = new URL('collecting.mjs', import.meta.url).pathname;

const nameOf = (at: number): string => `site-${at}.bench.test`;
const authority = makeCertificate({ authority: true, subject: [['CN', 'bench']] });
const pairs = (subject: string) =>
  Array.from({ length: count }, (_, at) => {
    const { cert, key } = makeCertificate({ issuer: authority, dnsNames: [nameOf(at)], subject: [['CN', subject]] });
    return { cert, key };
  });
const [first, second] = [pairs('first'), pairs('second')];

/** CPU of one of `rounds` runs, in microseconds. */
function microsOf(rounds: number, run: (round: number) => unknown): number {
  for (let round = 0; round < Math.min(rounds, 20_000); round++) run(round);
  const { user, system } = process.cpuUsage();
  for (let round = 0; round < rounds; round++) run(round);
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / rounds;
}

function choices(): void {
  const names = new ServerNames(first.map(readCertificate));
  const contexts = new Contexts(undefined);
  const asked = Array.from({ length: looks }, (_, i) => nameOf((i * 7_919) % count));
  const choose = (name: string | undefined) => {
    const found = names.find((name ?? '').toLowerCase());
    return found && contexts.of(found);
  };
  const few = microsOf(looks, (at) => choose(nameOf(at % 100)));
  const many = microsOf(5_000, (at) => choose(asked[at]));
  const alone = microsOf(looks, (at) => names.find((asked[at] ?? '').toLowerCase()));
  console.log(`choice of a name among ${count}: ${alone.toFixed(2)} µs, with its context ready ${few.toFixed(2)} µs`);
  console.log(`and with all ${count} asked for in turn, so that each context is filled anew: ${many.toFixed(0)} µs`);
}

async function activate(api: ApiClient, port: number, certificates: readonly object[], name: string): Promise<void> {
  const tls = { ...first[0], certificates };
  const { status } = await api.put('/listeners/edge', { name: 'edge', address: '127.0.0.1', port, tls });
  if (status !== 200) throw new Error(`the listener is answered ${status}`);
  await api.activateAs(name);
}

/** A running Sluice whose one listener has the first certificate. */
async function withSluice(
  env: NodeJS.ProcessEnv,
  work: (api: ApiClient, port: number, pid: number) => Promise<void>,
): Promise<void> {
  const sluice = await startSluice({ more: 'proxy: { workers: 1 }', env });
  try {
    const api = apiClient(sluice.url);
    const port = await freePort();
    await api.create('listeners', { id: 'edge', name: 'edge', address: '127.0.0.1', port, tls: first[0] });
    await api.create('routes', { name: 'all', directResponse: { status: 200, body: 'served' } });
    await api.activateAs('one');
    await work(api, port, sluice.child.pid ?? 0);
  } finally {
    await sluice.stop();
  }
}

const memory = () =>
  withSluice({ NODE_OPTIONS: `--import=${preload}` }, async (api, port, pid) => {
    /** Memory after every certificate was used and garbage was collected a few times, KB. */
    const usedKb = async (): Promise<number> => {
      for (let at = 0; at < count; at += 10)
        await Promise.all(Array.from({ length: 10 }, (_, i) => ask(port, { servername: nameOf((at + i) % count) })));
      await new Promise((resolve) => setTimeout(resolve, 9_000));
      return memoryKbOf(pid);
    };
    await usedKb();
    const one = await usedKb();
    await activate(api, port, first, 'first');
    await usedKb();
    const all = await usedKb();
    const each = ((all - one) / count).toFixed(1);
    console.log(`memory of the process: ${one} KB with one, ${all} KB with ${count} in use: ${each} KB each`);
  });

const swaps = () =>
  withSluice({}, async (api, port) => {
    await activate(api, port, first, 'first');
    const failed: string[] = [];
    const shown = new Map<string, number>();
    const visits: Promise<void>[] = [];
    const visit = (at: number): Promise<void> =>
      ask(port, { servername: nameOf(at % count) }).then(
        (answer) => {
          if (bodyOf(answer) !== 'served') failed.push(answer.text);
          shown.set(answer.shown, (shown.get(answer.shown) ?? 0) + 1);
        },
        (error: Error) => void failed.push(error.message),
      );
    const startedMs = performance.now();
    let swapped = 0;
    const swapping = (async () => {
      while (performance.now() - startedMs < seconds * 1_000)
        await activate(api, port, swapped % 2 === 0 ? second : first, `swap ${++swapped}`);
    })();
    for (let spentMs = 0; spentMs < seconds * 1_000; spentMs = performance.now() - startedMs) {
      while (visits.length < (spentMs * perSecond) / 1_000) visits.push(visit(visits.length));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const perSecondSaid = ((visits.length * 1_000) / (performance.now() - startedMs)).toFixed(0);
    await Promise.all([swapping, ...visits]);
    const which = [...shown].map(([subject, times]) => `${subject} ${times}`).join(', ');
    console.log(
      `${swapped} swaps of ${count} under ${perSecondSaid} new connections a second: ${failed.length} of ${visits.length} failed (${which})`,
    );
    for (const failure of new Set(failed)) console.log(failure);
  });

choices();
await memory();
await swaps();
