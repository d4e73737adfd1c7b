// schemathesis as a child process: installed once, run against one address. All that it prints goes to a file; a reader of
// test results gets one line, and what was found.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { newFolder } from '../support/sluice-process.ts';
import { findingsIn, type Report, summaryOf } from './findings.ts';

export const version = '4.32.5';

const installMs = 180_000;
const here = import.meta.dirname;

/** Path of the program in an environment that is kept for the next run; undefined when it cannot be had. */
export function installed(): string | undefined {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice', `schemathesis-${version}`);
  const program = join(folder, 'bin/schemathesis');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const steps: [command: string, args: string[]][] = [
    ['python3', ['-m', 'venv', folder]],
    [join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', `schemathesis==${version}`]],
  ];
  for (const [command, args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: installMs });
    if (status === 0) continue;
    const why = (error?.message ?? stderr ?? '').trim().split('\n').at(-1);
    console.log(`left out: the document is not walked by schemathesis ${version}, which cannot be installed: ${why}`);
    return undefined;
  }
  return program;
}

interface Run {
  readonly program: string;
  /** For the summary. */
  readonly place: string;
  readonly url: string;
  readonly key: string;
  readonly seconds: number;
  readonly seed: string;
  /** Separated by commas; all by default. */
  readonly phases: string | undefined;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

interface Cluster {
  readonly members: readonly { readonly nodeId: string }[];
}

/** Ids of the operations that answer by a stream of events, which never ends. */
function endlessIn(document: string): string[] {
  const { paths }: { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } = JSON.parse(document);
  const isEndless = ({ responses }: Operation): boolean =>
    Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content);
  return Object.values(paths)
    .flatMap((path) => Object.values(path).filter(isEndless))
    .map(({ operationId }) => operationId);
}

/** Prints a line, and what was found. True: something was. */
export async function ask({ program, place, url, key, seconds, seed, phases }: Run): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const document = await (await fetch(`${url}/api/v1/docs/doc.json`, { headers })).text();
  const { members } = (await (await fetch(`${url}/api/v1/cluster`, { headers })).json()) as Cluster;
  const folder = newFolder();
  const file = join(folder, 'document.json');
  const reportFile = join(folder, 'report.json');
  const outputFile = join(folder, 'output.txt');
  writeFileSync(file, document);
  const args = [
    ...['--config-file', join(here, 'schemathesis.toml'), 'run', file],
    ...['--url', `${url}/api/v1`, '--header', `Authorization: Bearer ${key}`],
    ...endlessIn(document).flatMap((id) => ['--exclude-operation-id', id]),
    ...(phases === undefined ? [] : ['--phases', phases]),
    ...['--seed', seed, '--max-time', String(seconds), '--continue-on-failure', '--no-color'],
    // An activation may wait for its proxies for a minute.
    ...['--request-timeout', '75'],
    // What it cannot reach is no fault of the document.
    ...['--warnings', 'off', '--report', 'json', '--report-json-path', reportFile],
  ];
  const output = openSync(outputFile, 'w');
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      SLUICE_DOCUMENT: file,
      SLUICE_MEMBERS: members.map(({ nodeId }) => nodeId).join(','),
    },
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  const code = await promise;
  const report: Report | undefined = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, 'utf8')) : undefined;
  console.log(summaryOf({ place, seed, code, report, outputFile }));
  const findings = findingsIn(readFileSync(outputFile, 'utf8'));
  if (code !== 0) console.log(findings.join('\n'));
  return code !== 0;
}
