// `npm run test:document`: a property-based client that knows nothing but the OpenAPI document asks a node of its own, and
// then a follower of three, a minute each. Argument: seconds in all. It comes from PyPI; where Python or the package cannot
// be had, that is said and is no failure.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { NodeCluster } from '../support/node-cluster.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

const version = '4.32.5';
const seed = 1;
const key = 'a key for this run';
const installMs = 180_000;
const here = import.meta.dirname;
const auth = `  auth: { apiKeys: [{ name: ops, key: "${key}" }] }\n`;

const seconds = Number(process.argv[2] ?? 120) / 2;
const client = installed();
if (client === undefined) process.exit(0);

const one = await startSluice({ controlPlane: auth });
const isRightAlone = await asks('one node', one.url);
await one.stop();

const cluster = await NodeCluster.start({ controlPlane: auth, caller: { key } });
const [follower] = await cluster.followers();
const isRightBehind = follower !== undefined && (await asks('a follower', follower.url));
await cluster.stop();
process.exitCode = isRightAlone && isRightBehind ? 0 : 1;

/** Path of the program in an environment that is kept for the next run; undefined when it cannot be had. */
function installed(): string | undefined {
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

async function asks(what: string, url: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const document = await (await fetch(`${url}/api/v1/docs/doc.json`, { headers })).text();
  const folder = newFolder();
  const file = join(folder, 'document.json');
  writeFileSync(file, document);
  console.log(`\n== schemathesis ${version}, seed ${seed}, ${seconds} s: ${what}`);
  console.log(
    'left out: GET /sync/snapshot, which never ends; snapshots in a batch; fieldValidation and minRevision but warn and 0',
  );
  const args = [
    ...['--config-file', join(here, 'schemathesis.toml'), 'run', file],
    ...[
      '--url',
      `${url}/api/v1`,
      '--header',
      `Authorization: Bearer ${key}`,
      '--exclude-operation-id',
      'followActivations',
    ],
    ...['--seed', String(seed), '--max-time', String(seconds), '--continue-on-failure', '--no-color'],
    // What it cannot reach is no fault of the document.
    ...['--warnings', 'off', '--report-dir', folder],
  ];
  const child = spawn(client ?? '', args, {
    cwd: folder,
    stdio: 'inherit',
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: '1',
      SLUICE_DOCUMENT: file,
    },
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return (await promise) === 0;
}
