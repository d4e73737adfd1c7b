// Loads of a benchmark on a proxy, and the sample of one run.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { cpuSeconds, type Machine, rssKb } from './machine.ts';
import type { Running } from './proxies.ts';

export interface Sample {
  /** CPU of the proxy per request, or per handshake. */
  readonly micros: number;
  readonly perSecond: number;
  /** Milliseconds; NaN where the tool says none. */
  readonly p50: number;
  readonly p99: number;
  /** KB of an idle connection; NaN where that is not asked. */
  readonly kb?: number;
  /** The most memory that the proxy held, MB; absent where that is not asked. */
  readonly rssMb?: number;
  /** CPU time of the longest turn of an event loop, milliseconds; absent where that is not asked. */
  readonly heldMs?: number;
  /** Failure in the tool's words; empty: none. */
  readonly failed: string;
}

export interface Load {
  /** Command that has to be installed. */
  readonly command?: string;
  /** True where a run has a fixed length. */
  readonly once?: boolean;
  run(target: Running, tls: boolean, seconds: number, machine: Machine): Promise<Sample>;
}

const urlOf = ({ port }: Running, tls: boolean, path: string): string =>
  `${tls ? 'https' : 'http'}://127.0.0.1:${port}${path}`;

/** wrk says `812.00us`, `1.20ms` or `2.01s`. */
function latencyMs(text: string, percentile: string): number {
  const [, number, unit] = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(number) * (unit === 'us' ? 1e-3 : unit === 'ms' ? 1 : 1e3);
}

export interface WrkOptions {
  readonly connections?: number;
  readonly headers?: readonly string[] | (() => readonly string[]);
  /** Lua. */
  readonly script?: string;
  /** A request is counted as so many bytes read: at the end of a run large ones are under way. */
  readonly bytes?: number;
}

export const wrk = (path: string, { connections = 64, headers = [], script, bytes }: WrkOptions = {}): Load => ({
  command: 'wrk',
  async run(target, tls, seconds, machine) {
    const lines = typeof headers === 'function' ? headers() : headers;
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...lines.flatMap((line) => ['-H', line])];
    if (script !== undefined) args.push('-s', machine.file('wrk.lua', script));
    const before = cpuSeconds(target.pid);
    const text = await machine.run('wrk', [...args, urlOf(target, tls, path)]);
    const requests = bytes === undefined ? Number(/(\d+) requests in/.exec(text)?.[1] ?? 0) : readBytes(text) / bytes;
    return {
      micros: ((cpuSeconds(target.pid) - before) / requests) * 1e6,
      perSecond: requests / seconds,
      p50: latencyMs(text, '50%'),
      p99: latencyMs(text, '99%'),
      failed: /Socket errors.*|Non-2xx.*/.exec(text)?.[0] ?? '',
    };
  },
});

/** wrk says `5.61MB read`. */
function readBytes(text: string): number {
  const [, number, unit = ''] = /([\d.]+)([KMGT]?)B read/.exec(text) ?? [];
  return Number(number) * 1024 ** ['', 'K', 'M', 'G', 'T'].indexOf(unit);
}

export interface H2loadOptions {
  readonly connections: number;
  /** Streams at a time on each. */
  readonly streams: number;
  /** True where each request is a unary call of gRPC. */
  readonly grpc?: boolean;
  /** Bytes of a request, as for wrk. */
  readonly bytes?: number;
}

export const h2load = (path: string, { connections, streams, grpc = false, bytes }: H2loadOptions): Load => ({
  command: 'h2load',
  async run(target, tls, seconds, machine) {
    const call = [
      '-d',
      join(machine.folder, 'grpc-request'),
      '-H',
      'content-type: application/grpc',
      '-H',
      'te: trailers',
    ];
    const args = ['-t1', `-D${seconds}`, `-c${connections}`, `-m${streams}`, ...(grpc ? call : [])];
    const before = cpuSeconds(target.pid);
    const text = await machine.run('h2load', [...args, urlOf(target, tls, path)]);
    const answered = Number(/(\d+) succeeded/.exec(text)?.[1] ?? 0);
    const requests = bytes === undefined ? answered : Number(/\((\d+)\) data/.exec(text)?.[1] ?? 0) / bytes;
    return {
      micros: ((cpuSeconds(target.pid) - before) / requests) * 1e6,
      perSecond: requests / seconds,
      ...{ p50: Number.NaN, p99: Number.NaN },
      failed: /(?!0 failed)\b\d+ failed/.exec(text)?.[0] ?? '',
    };
  },
});

/**
 * Requests come at a rate that every proxy keeps up with; what counts is how long each takes. `body`: name of the file
 * that each uploads.
 */
export const fixedRate = (path: string, rate: number, clients: number, body?: string): Load => ({
  command: 'h2load',
  async run(target, tls, seconds, machine) {
    const file = join(machine.folder, 'latency.log');
    rmSync(file, { force: true });
    const requests = rate * seconds;
    const args = ['--h1', `-c${clients}`, '-t1', `-n${requests}`, `--rps=${rate / clients}`, `--log-file=${file}`];
    if (body !== undefined) args.push('-d', join(machine.folder, body));
    const before = cpuSeconds(target.pid);
    await machine.run('h2load', [...args, urlOf(target, tls, path)]);
    const cpu = cpuSeconds(target.pid) - before;
    const answers = readFileSync(file, 'utf8').trim().split('\n');
    const fields = answers.map((line) => line.split('\t').map(Number));
    const sorted = fields.map(([, , micros = 0]) => micros / 1_000).toSorted((a, b) => a - b);
    const failed = requests - fields.filter(([, status]) => status === 200).length;
    return {
      micros: (cpu / requests) * 1e6,
      perSecond: rate,
      p50: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      failed: failed === 0 ? '' : `${failed} failed`,
    };
  },
});

/** Load that also measures the memory of the proxy. */
export const weighing = (load: Load): Load => ({
  ...load,
  async run(target, tls, seconds, machine) {
    let rssMb = 0;
    const weigh = (): void => {
      rssMb = Math.max(rssMb, rssKb(target.pid) / 1024);
    };
    const timer = setInterval(weigh, 100);
    try {
      const sample = await load.run(target, tls, seconds, machine);
      weigh();
      return { ...sample, rssMb };
    } finally {
      clearInterval(timer);
    }
  },
});

/** Load that also measures the longest turn of a loop, of a Sluice that preloads `heldLoopsEnv`. */
export const telling = (load: Load): Load => ({
  ...load,
  async run(target, tls, seconds, machine) {
    const held = async (): Promise<number> => {
      const output = (): string[] => readFileSync(join(machine.folder, `${target.name}.log`), 'utf8').split('\n');
      const before = output().length;
      process.kill(target.pid, 'SIGUSR2');
      const line = await eventually(() => {
        const found = output()
          .slice(before - 1, -1)
          .find((each) => each.startsWith('held '));
        if (found === undefined) throw new Error('the proxy does not say how long its loops were held');
        return found;
      });
      return Math.max(...Object.values(JSON.parse(line.slice(5)) as Record<string, number>));
    };
    await held();
    const sample = await load.run(target, tls, seconds, machine);
    return { ...sample, heldMs: await held() };
  },
});

/** Connections that do nothing but secure themselves, with tickets of earlier ones or without. */
export const handshakes = (kind: 'full' | 'resumed'): Load => ({
  async run(target, _tls, seconds, machine) {
    const program = new URL('handshakes.ts', import.meta.url).pathname;
    const before = cpuSeconds(target.pid);
    const text = await machine.run(process.execPath, [program, String(target.port), kind, String(seconds)]);
    const cpu = cpuSeconds(target.pid) - before;
    const { done, failed } = JSON.parse(text) as { readonly done: number; readonly failed: string };
    return { micros: (cpu / done) * 1e6, perSecond: done / seconds, p50: Number.NaN, p99: Number.NaN, failed };
  },
});

/** 10,000 connections that carried one request each and stay. */
/** `connections`: how many; each costs the process of the load one descriptor. */
export const idleConnections = (connections = 10_000): Load => ({
  once: true,
  async run({ port, pid }) {
    const { connect } = await import('node:net');
    const count = connections;
    const before = rssKb(pid);
    const sockets = [];
    for (let made = 0; made < count; made += 100) {
      const some = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
      sockets.push(...some);
      await Promise.all(
        some.map((s) => new Promise((resolve) => s.once('data', resolve).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))),
      );
    }
    const kb = (rssKb(pid) - before) / count;
    for (const socket of sockets) socket.destroy();
    return { kb, micros: Number.NaN, perSecond: Number.NaN, p50: Number.NaN, p99: Number.NaN, failed: '' };
  },
});
