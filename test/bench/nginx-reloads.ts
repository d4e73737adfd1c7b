// `node test/bench/nginx-reloads.ts [--routes 5000 --times 50]`: CPU that nginx takes to read its configuration again and
// change its worker, beside what a change costs Sluice in `npm run bench -- reloads`.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { cores, freePort, Machine, ticksPerSecond } from './proxy/machine.ts';

const { values } = optionsOf(import.meta.url, {
  options: { routes: { type: 'string', default: '5000' }, times: { type: 'string', default: '50' } },
});
const [routes, times] = [Number(values.routes), Number(values.times)];

/** CPU time of the process and of its children that have ended. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / ticksPerSecond) * 1_000;
}

const machine = new Machine();
const port = await freePort();
const locations = Array.from({ length: routes }, (_, i) => `location /service-${i}/api { proxy_pass http://u; }`);
const conf = machine.file(
  'nginx.conf',
  `daemon off; worker_processes 1; pid ${machine.folder}/nginx.pid; error_log ${machine.folder}/error.log;
events { worker_connections 1024; }
http { access_log off; upstream u { server 127.0.0.1:9; keepalive 256; }
server { listen 127.0.0.1:${port}; ${locations.join('\n')} } }`,
);
const pid = machine.start(cores.proxy, 'nginx', 'nginx', ['-c', conf]);
try {
  await machine.listening(port, pid, 'nginx');
  const before = cpuMs(pid);
  for (let i = 0; i < times; i++) {
    process.kill(pid, 'SIGHUP');
    // Signals that come while it reads are one.
    await pause(200);
  }
  console.log(`${((cpuMs(pid) - before) / times).toFixed(1)} ms of CPU a reload of ${routes} locations`);
} finally {
  await machine.end();
}
