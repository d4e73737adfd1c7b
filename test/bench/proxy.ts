// CPU per request of a proxy hop, beside nginx, HAProxy and Caddy where they are installed: `npm run bench -- --help`.
// The proxies are pinned to one core, load and upstream to another; every round of a case runs on all of them in turn.
import { writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { type Case, cases } from './proxy/cases.ts';
import type { Sample } from './proxy/loads.ts';
import { cpuSeconds, installed, Machine } from './proxy/machine.ts';
import { type Contestant, type Place, type Running, sluice } from './proxy/proxies.ts';
import { type Row, rowsOf, tableOf } from './proxy/report.ts';
import { startBehind } from './proxy/services.ts';

const samples = join(tmpdir(), 'sluice-bench.json');
const help = `npm run bench -- [case ...] [options]     without a case: all of them

  --list             names the cases
  --runs N           rounds that count of each case; the median is told (5)
  --seconds N        length of a round on one proxy (2)
  --only A,B         these proxies alone
  --tree NAME=PATH   Sluice of another checkout takes part as sluice@NAME in every case; may be repeated. Options of
                     Node may follow the path, after a blank
  --json FILE        where all samples go (${samples})

The proxies run on core 0, load and upstream on core 1. CPU is that of all threads and child processes. The spread is
half of the range that the middle half of the runs lies in; ratios are medians of those of each round.
NODE_ARGS are options for the Node that Sluice runs on, as --cpu-prof --cpu-prof-dir=DIRECTORY.`;

const { values: given, positionals } = optionsOf(
  import.meta.url,
  {
    allowPositionals: true,
    options: {
      list: { type: 'boolean' },
      runs: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string' },
      tree: { type: 'string', multiple: true, default: [] as string[] },
      json: { type: 'string', default: samples },
    },
  },
  () => help,
);
const runs = Number(given.runs);
const seconds = Number(given.seconds);

const commandsOf = ({ load, proxies }: Case): readonly string[] =>
  [load.command, ...proxies.map(({ command }) => command)].filter((command) => command !== undefined);

function trees(): Contestant[] {
  return given.tree.map((text) => {
    const at = text.indexOf('=');
    const [tree = '', ...nodeOptions] = text.slice(at + 1).split(' ');
    return sluice(`sluice@${text.slice(0, at)}`, { tree, nodeOptions });
  });
}

function taking(part: Case): readonly Contestant[] {
  const only = given.only?.split(',');
  const [first, ...rest] = part.proxies;
  const every = first === undefined ? [] : [first, ...trees(), ...rest];
  return every.filter(
    ({ name, command }) => (command === undefined || present(command)) && (only === undefined || only.includes(name)),
  );
}

const found = new Map<string, boolean>();
function present(command: string): boolean {
  const known = found.get(command) ?? installed(command);
  found.set(command, known);
  return known;
}

async function measure(part: Case, place: Place): Promise<Row[]> {
  const { machine } = place;
  const running: Running[] = [];
  const results = new Map<string, Sample[]>();
  try {
    for (const proxy of taking(part)) running.push(await proxy.start(place));
    for (const { pid, name } of running) machine.insist(pid, name);
    const { tls } = part.scene;
    if (part.load.once !== true) for (const each of running) await warm(part, each, machine);
    for (let run = 0; run < (part.load.once === true ? 1 : runs); run++) {
      for (const each of running) {
        const samples = results.get(each.name) ?? [];
        results.set(each.name, samples);
        samples.push(await part.load.run(each, tls, seconds, machine));
        machine.insist(each.pid, each.name);
      }
    }
  } finally {
    for (const { pid } of running) await machine.stop(pid);
  }
  const rows = rowsOf(results, part.figure ?? 'micros');
  report.push({ case: part.name, title: part.title, rows, samples: Object.fromEntries(results) });
  return rows;
}

/** Code is compiled by how often it runs, which on a busy machine takes longer than any fixed time. */
async function warm(part: Case, running: Running, machine: Machine): Promise<void> {
  const before = cpuSeconds(running.pid);
  for (let round = 0; round < 10 && cpuSeconds(running.pid) - before < 1; round++) {
    await part.load.run(running, part.scene.tls, 1, machine);
    machine.insist(running.pid, running.name);
  }
}

const report: object[] = [];

async function main(wanted: readonly Case[]): Promise<void> {
  const machine = new Machine();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void machine.end().finally(() => process.exit(130)));
  try {
    const { cert, key } = makeCertificate({ dnsNames: ['localhost'], addresses: ['127.0.0.1'] });
    const certificate = { cert: machine.file('cert.pem', cert), key: machine.file('key.pem', key) };
    const behind = await startBehind(machine);
    const absent = new Set<string>();
    for (const part of wanted) {
      const { command } = part.load;
      if (command !== undefined && !present(command)) {
        console.log(`\n${part.name}: left out, ${command} is not installed`);
        continue;
      }
      for (const name of commandsOf(part)) if (!present(name)) absent.add(name);
      console.log(`\n${part.name}: ${part.title}`);
      const rows = await measure(part, { machine, behind, scene: part.scene, certificate });
      console.log(tableOf(rows, part.figure ?? 'micros'));
    }
    if (absent.size > 0) console.log(`\nNot installed: ${[...absent].join(', ')}`);
    const about = { at: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model, runs, seconds };
    writeFileSync(given.json, `${JSON.stringify({ ...about, absent: [...absent], cases: report }, undefined, 2)}\n`);
    console.log(`\nEvery sample: ${given.json}`);
  } finally {
    await machine.end();
  }
}

if (given.list === true) {
  for (const part of cases) {
    const who = part.proxies.map(({ name }) => name).join(', ');
    console.log(`${part.name.padEnd(20)} ${part.title} (${who})`);
  }
} else {
  const names = new Set(cases.map(({ name }) => name));
  const unknown = positionals.filter((name) => !names.has(name));
  if (unknown.length > 0) {
    console.error(`No case is called ${unknown.join(', ')}; --list names them.`);
    process.exitCode = 2;
  } else if (!present('nginx') || !present('taskset')) {
    console.error('nginx, which is the upstream of every case, and taskset have to be installed.');
    process.exitCode = 2;
  } else await main(positionals.length === 0 ? cases : cases.filter(({ name }) => positionals.includes(name)));
}
