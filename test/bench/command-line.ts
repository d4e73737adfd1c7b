// The command line at many routes: time, memory and CPU of apply, diff, export and get against a node with 100,000 of them.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client } from '../support/client.ts';
import { endAll, startSluice } from '../support/sluice-process.ts';

const { values } = parseArgs({ options: { routes: { type: 'string', default: '100000' }, help: { type: 'boolean' } } });
if (values.help) {
  console.log('npm run bench:command-line [-- --routes 100000]   SLUICE_BUILD=out/sluice-… measures an executable');
  process.exit(0);
}
const count = Number(values.routes);

const routesOf = (changed: number): string => {
  const lines = ['owner: bench', 'destinations:', '- { name: backend, host: 127.0.0.1, port: 9000 }', 'routes:'];
  for (let n = 0; n < count; n++)
    lines.push(
      `- name: route-${n}`,
      `  match: { pathPrefix: /p${n}, hostnames: [h${n % 1000}.example] }`,
      '  forward:',
      '    destinations:',
      '    - destinationId: backend',
      `    timeouts: { request: ${n < changed ? 5 : 30}s }`,
    );
  return `${lines.join('\n')}\n`;
};

const sluice = await startSluice();
try {
  const client = new Client({ servers: [sluice.url] });
  client.write('conf/all.yaml', routesOf(0));
  await measured(client, 'apply of all', ['apply', '-f', 'conf/']);
  await measured(client, 'apply again', ['apply', '-f', 'conf/']);
  client.write('conf/all.yaml', routesOf(1000));
  await measured(client, 'diff of 1,000', ['diff', '-f', 'conf/']);
  await measured(client, 'apply of 1,000', ['apply', '-f', 'conf/']);
  await measured(client, 'export', ['export']);
  await measured(client, 'get route', ['get', 'routes', 'route-7']);
} finally {
  await sluice.stop();
  endAll();
}

/** Prints wall time, CPU and the most memory of one command. */
async function measured(client: Client, name: string, args: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  const child = client.start(...args);
  let memory = 0;
  let cpuSeconds = 0;
  const watch = setInterval(() => {
    try {
      memory = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? memory);
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {}
  }, 5);
  child.stdin?.end();
  let last = '';
  child.stdout?.on('data', (part: Buffer) => {
    last = part.toString().trimEnd().split('\n').at(-1) ?? last;
  });
  child.stderr?.pipe(process.stderr);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watch);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);
  console.log(
    `${name}: ${seconds} s, CPU ${cpuSeconds.toFixed(2)} s, ${Math.round(memory / 1024)} MiB, exit ${code}: ${last.slice(0, 100)}`,
  );
}
