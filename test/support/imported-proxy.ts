// A program with its configuration, and Sluice with what was imported of it, beside each other on loopback: the same requests
// for both, and what differs but for what the report names.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { type ImportResult, importFiles } from '../../src/command-line/import/importers.ts';
import type { Program } from '../../src/command-line/import/programs.ts';
import { allBelow, type Statement } from '../../src/command-line/import/statement.ts';
import { checkOffline } from '../../src/command-line/offline/offline-check.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { readImport } from './imports.ts';
import { ProxyBed } from './proxy-bed.ts';
import { newFolder } from './sluice-process.ts';

interface Question {
  readonly method: string;
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body. */
  readonly bytes: number;
}

interface Answer {
  readonly status: number;
  readonly location: string;
  /** Body of an upstream, or of a fixed answer. */
  readonly body: string;
  readonly fields: string;
  readonly route: string | undefined;
}

export interface Comparison {
  readonly compared: number;
  /** Requests whose route the report names as approximated or not taken. */
  readonly excused: number;
  readonly differences: readonly string[];
}

/** Ports in the files: those of listeners, and those of upstreams. */
const listenPorts = [18_080, 18_081] as const;
const upstreamPorts = [19_001, 19_002, 19_003, 19_004] as const;

export type Foreign = Extract<Program, 'nginx' | 'caddy' | 'haproxy'>;

/** Returns the arguments that run the program with a file, and writes what it needs beside the file. */
const commands: Readonly<Record<string, (folder: string, text: string) => readonly string[]>> = {
  nginx: (folder, text) => {
    const isWhole = /^\s*http\s*\{/m.test(text);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    // Bodies beyond a buffer go into files of a folder that only the user of the test may enter.
    const wrapped = `user root; pid ${folder}/pid; error_log ${folder}/errors; events {} http { access_log off; ${temporary.join(' ')} ${text} }`;
    writeFileSync(join(folder, 'run.conf'), isWhole ? text : wrapped);
    return ['-p', folder, '-c', join(folder, 'run.conf'), '-g', 'daemon off;'];
  },
  caddy: (folder, text) => {
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...JSON.parse(text), admin: { disabled: true } }));
    return ['run', '--config', join(folder, 'run.json')];
  },
  haproxy: (folder, text) => {
    writeFileSync(join(folder, 'run.cfg'), text);
    return ['-db', '-q', '-f', join(folder, 'run.cfg')];
  },
};

/** Compares answers to so many requests. Throws when the program does not start. */
export async function comparedImport(program: Foreign, path: string, count: number): Promise<Comparison> {
  const bed = new ProxyBed();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  try {
    const ports = new Map<number, number>();
    for (const [at, port] of upstreamPorts.entries())
      ports.set(port, await bed.upstream((request, response) => echo(at + 1, request, response)));
    const foreign = new Map<number, number>();
    const own = new Map<number, number>();
    for (const port of listenPorts) {
      foreign.set(port, await freePort());
      own.set(port, await freePort());
    }
    const { name, text } = readImport(path);
    const moved = (listeners: ReadonlyMap<number, number>) =>
      text.replace(/\b(1808[01]|1900[1-4])\b/g, (port) =>
        String(listeners.get(Number(port)) ?? ports.get(Number(port))),
      );
    const result = await importFiles(program, [{ name, text: moved(own) }]);
    const listeners = await installed(bed, result);
    const used = listenPorts.filter((port) => listeners.has(own.get(port) ?? 0));
    await started(
      bed,
      program,
      moved(foreign),
      used.map((port) => foreign.get(port) ?? 0),
    );
    const questions = questionsOf(
      result,
      used.map((port) => own.get(port) ?? 0),
      count,
    );
    const differences: string[] = [];
    let excused = 0;
    for (const question of questions) {
      const at = listenPorts.find((port) => own.get(port) === question.port) ?? listenPorts[0];
      const [theirs, ours] = await Promise.all([
        answerTo({ ...question, port: foreign.get(at) ?? 0 }, agent),
        answerTo(question, agent),
      ]);
      const difference = differenceOf(theirs, ours, hasSeveral(result, ours.route));
      if (difference === undefined) continue;
      if (isNamed(result, ours.route)) excused += 1;
      else
        differences.push(
          `${question.method} ${question.host} ${question.path} ${JSON.stringify(question.headers)}: ${difference} (route ${ours.route})`,
        );
    }
    return { compared: questions.length, excused, differences };
  } finally {
    agent.destroy();
    await bed.end();
  }
}

/** Installs what was imported, with the name of the route in each response. Resolves with the ports of its listeners. */
async function installed(bed: ProxyBed, { resources }: ImportResult): Promise<Set<number>> {
  const entities = resources.map(({ kind, name, fields, from }) => ({ kind, name, fields, placeOf: () => from.place }));
  const kinds = new Set(entities.map(({ kind }) => kind));
  const { configuration } = await checkOffline(
    { entities, kinds, owners: new Set<string>(), faults: [] },
    undefined,
    Date.now(),
  );
  const listeners = configuration.listeners.map((each) => ({ ...each, address: '127.0.0.1', debugHeaders: true }));
  await bed.install({ ...configuration, listeners } as Configuration);
  return new Set(listeners.map(({ port }) => port));
}

async function started(bed: ProxyBed, program: Foreign, text: string, ports: readonly number[]): Promise<void> {
  const folder = newFolder();
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const args = commands[program]?.(folder, text) ?? [];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: folder } });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = once(child, 'close');
  bed.atEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${errors}`);
    for (const port of ports) if (!(await isAccepting(port))) throw new Error(`${program} does not listen on ${port}`);
  });
}

async function isAccepting(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function echo(at: number, request: IncomingMessage, response: ServerResponse): void {
  const seen = Object.entries(request.headers).filter(
    ([name]) => name.startsWith('x-') && !/^x-(forwarded|real-ip)/.test(name),
  );
  response.setHeader('x-powered-by', 'echo');
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      upstream: at,
      method: request.method,
      target: request.url,
      host: request.headers.host,
      seen: seen.sort(),
    }),
  );
}

/** Requests of the cases, and others around them: paths that go on, other hosts, methods and queries. */
function questionsOf({ cases }: ImportResult, listening: readonly number[], count: number): Question[] {
  const asked = cases.map(({ request }) => {
    const url = new URL(String(request.url));
    return { url, method: String(request.method), headers: (request.headers ?? {}) as Record<string, string> };
  });
  const hosts = [...new Set(asked.map(({ url }) => url.hostname)), 'other.test'];
  const pool = asked.flatMap(({ url, method, headers }) =>
    [
      url.pathname,
      `${url.pathname}x`,
      `${url.pathname.replace(/\/$/, '')}/more/x.php`,
      '/',
      '/elsewhere',
      '/users/7/orders/8',
    ].flatMap((path) =>
      [url.hostname, ...hosts].flatMap((host) =>
        [{}, headers, { 'x-version': '2', 'x-tenant': 'b', 'x-original': 'o', 'user-agent': 'badbot/1' }].flatMap(
          (fields) =>
            [method, 'POST', 'DELETE'].flatMap((verb) =>
              ['', url.search, '?a=1&debug=1'].flatMap((query) =>
                listening.map((port) => ({
                  method: verb,
                  port,
                  host,
                  path: path + query,
                  headers: fields as Record<string, string>,
                  bytes: 0,
                })),
              ),
            ),
        ),
      ),
    ),
  );
  const unique = [...new Map(pool.map((each) => [JSON.stringify(each), each])).values()];
  // A step that has no factor in common with the length visits all parts of the pool.
  const step = Math.max(1, Math.floor(unique.length * 0.618));
  const coprime =
    [...Array(unique.length || 1).keys()].map((more) => step + more).find((each) => gcd(each, unique.length) === 1) ??
    1;
  return [...Array(Math.min(count, unique.length)).keys()].flatMap(
    (at) => sized(unique[(at * coprime) % unique.length], at) ?? [],
  );
}

/** Lengths of bodies, on either side of limits in the files. */
const bodyBytes = [0, 5, 60, 300, 6000, 20_000];

const sized = (question: Question | undefined, at: number): Question | undefined =>
  question?.method === 'POST' ? { ...question, bytes: bodyBytes[at % bodyBytes.length] ?? 0 } : question;

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

async function answerTo({ method, port, host, path, headers, bytes }: Question, agent: Agent): Promise<Answer> {
  const sent = httpRequest({
    agent,
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...headers, host, 'content-length': bytes },
  });
  sent.end('x'.repeat(bytes));
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    response.setEncoding('utf8');
    for await (const chunk of response) body += chunk;
    const isEcho = body.startsWith('{"upstream"');
    const fields = Object.entries(response.headers).filter(
      ([name]) => name.startsWith('x-') && !name.startsWith('x-sluice-'),
    );
    return {
      status: response.statusCode ?? 0,
      location: locationOf(response.headers.location, host),
      body: isEcho || response.statusCode === 200 ? body : '',
      fields: JSON.stringify(fields.sort()),
      route: response.headers['x-sluice-route'] as string | undefined,
    };
  } catch {
    return { status: 0, location: '', body: '', fields: '', route: undefined };
  }
}

/** Location as the client resolves it, without the port, which nginx adds and Sluice leaves out. */
function locationOf(location: string | undefined, host: string): string {
  if (location === undefined) return '';
  const url = new URL(location, `http://${host}/`);
  return `${url.protocol}//${url.hostname}${url.pathname}${url.search}`;
}

/** Several endpoints take turns in an order of each program: which one it was is not compared. */
const hasSeveral = ({ resources, routes }: ImportResult, name: string | undefined): boolean => {
  const ids = routes.find((each) => each.name === name)?.destinations ?? [];
  return resources.some(
    (each) => each.kind === 'destinations' && ids.includes(each.name) && each.fields.endpoints !== undefined,
  );
};

function differenceOf(theirs: Answer, ours: Answer, hasSeveral: boolean): string | undefined {
  if (hasSeveral) return differenceOf(anyUpstream(theirs), anyUpstream(ours), false);
  if (theirs.status === 0 && ours.status === 0) return 'neither of the two answers';
  for (const key of ['status', 'location', 'body', 'fields'] as const)
    if (theirs[key] !== ours[key])
      return `${key} ${JSON.stringify(theirs[key])} there, ${JSON.stringify(ours[key])} here`;
  return undefined;
}

const anyUpstream = (answer: Answer): Answer => ({ ...answer, body: answer.body.replace(/^\{"upstream":\d+/, '{') });

/** The report says of a statement of the route, or of a statement around it, that it is not as it was. */
function isNamed({ report, routes, notes }: ImportResult, name: string | undefined): boolean {
  if (name?.includes('-otherwise') && notes.some((note) => note.startsWith('What no '))) return true;
  const from = routes.find((each) => each.name === name)?.route.from;
  if (from === undefined) return false;
  const within = new Set<Statement>(allBelow(from));
  return report.some(
    ({ statement, outcome }) =>
      outcome !== 'taken' &&
      (within.has(statement) || (outcome === 'not taken' && [...allBelow(statement)].includes(from))),
  );
}

export const titleOf = (path: string): string => basename(path);
