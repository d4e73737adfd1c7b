// CPU per request of a proxy hop, beside others on the same machine: `npm run bench`. Proxies are pinned to core 0
// (sluice-2 is Sluice with two workers, on the same core; sluice-policies has retries, breaker, outliers and health on), load (wrk; h2load at a fixed rate) and upstream to core 1;
// every case runs in turn on each proxy, and of each figure the median of RUNS (7) counts.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runs = Number(process.env.RUNS ?? 7);
const seconds = Number(process.env.SECONDS ?? 4);
const only = process.env.ONLY?.split(',');
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const children = [];
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

const installed = (command) => {
  try {
    return execFileSync('which', [command], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
};

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function start(core, command, args) {
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const stdio = ['ignore', 'inherit', 'inherit'];
  const child = spawn('taskset', ['-c', String(core), command, ...args], { env, stdio });
  children.push(child);
  return child;
}

async function listening(port) {
  for (let tries = 0; tries < 200; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`nothing listens on ${port}`);
}

function nginxConfig(name, server, http = '') {
  const file = join(folder, `${name}.conf`);
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${join(folder, `${name}.pid`)}; error_log /dev/null crit;
events { worker_connections 20000; }
http { access_log off; keepalive_requests 1000000000; client_max_body_size 0;
client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
${http} ${server} }`,
  );
  return file;
}

/** The process and its children: nginx and HAProxy work in one. */
function cpuSeconds(pid) {
  let sum = 0;
  for (const id of [pid, ...childrenOf(pid)]) {
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
    sum += (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }
  return sum;
}

function rssKb(pid) {
  let sum = 0;
  for (const id of [pid, ...childrenOf(pid)])
    sum += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0);
  return sum;
}

function childrenOf(pid) {
  const found = [];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
    if (text !== '') for (const id of text.split(' ')) found.push(Number(id), ...childrenOf(Number(id)));
  }
  return found;
}

async function upstream() {
  const port = await freePort();
  writeFileSync(join(folder, '64k'), Buffer.alloc(65_536, 'x'));
  writeFileSync(join(folder, '10m'), Buffer.alloc(10 << 20, 'x'));
  const server = `server { listen 127.0.0.1:${port} backlog=4096; root ${folder};
location / { default_type application/json; return 200 '{"message":"${'x'.repeat(86)}"}'; }
location /64k { sendfile on; try_files /64k =404; } location /10m { sendfile on; try_files /10m =404; }
location /upload { client_body_buffer_size 2m; proxy_pass http://127.0.0.1:${port}/sink; } location /sink { return 200 'ok'; } }`;
  start(1, 'nginx', ['-c', nginxConfig('upstream', server)]);
  await listening(port);
  return port;
}

async function sluice(upstreamPort, routes, workers, ...policies) {
  const port = await freePort();
  const program = new URL('sluice.ts', import.meta.url).pathname;
  const options = process.env.NODE_ARGS?.split(' ') ?? [];
  const args = [port, upstreamPort, routes, workers, ...policies].map(String);
  const child = start(0, process.execPath, [...options, program, ...args]);
  await listening(port);
  return { port, pid: child.pid };
}

const proxies = {
  sluice: (upstreamPort, routes) => sluice(upstreamPort, routes, 1),
  'sluice-2': (upstreamPort, routes) => sluice(upstreamPort, routes, 2),
  'sluice-policies': (upstreamPort, routes) => sluice(upstreamPort, routes, 1, 'policies'),
  async nginx(upstreamPort) {
    const port = await freePort();
    const http = `upstream u { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 1000000000; }`;
    const server = `server { listen 127.0.0.1:${port} backlog=4096; location / { proxy_pass http://u; proxy_http_version 1.1;
proxy_set_header Connection ""; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host; proxy_request_buffering off; } }`;
    const child = start(0, 'nginx', ['-c', nginxConfig('proxy', server, http)]);
    await listening(port);
    return { port, pid: child.pid };
  },
  async haproxy(upstreamPort) {
    const port = await freePort();
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(
      file,
      `global\n  nbthread 1\n  maxconn 9000\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s
  option forwardfor\n  http-reuse always\nfrontend f\n  bind 127.0.0.1:${port}\n  default_backend b
backend b\n  server s 127.0.0.1:${upstreamPort}\n`,
    );
    const child = start(0, 'haproxy', ['-f', file, '-db']);
    await listening(port);
    return { port, pid: child.pid };
  },
  async caddy(upstreamPort) {
    const port = await freePort();
    const file = join(folder, 'Caddyfile');
    writeFileSync(
      file,
      `{\n admin off\n auto_https off\n log {\n  level ERROR\n }\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy 127.0.0.1:${upstreamPort}\n}\n`,
    );
    const child = start(0, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile']);
    await listening(port);
    return { port, pid: child.pid };
  },
};

const script = (name, text) => {
  const file = join(folder, `${name}.lua`);
  writeFileSync(file, text);
  return file;
};
const pipelined = script(
  'pipeline',
  `init = function(args) local r = {} for i = 1, 16 do r[i] = wrk.format(nil, "/") end req = table.concat(r) end\nrequest = function() return req end\n`,
);
const upload = script('upload', `wrk.method = "POST"\nwrk.body = string.rep("x", 1048576)\n`);

const cases = {
  'small GET, 1 route': { routes: 1, args: ['-c64'], path: '/' },
  'small GET, 1,000 routes': { routes: 1000, args: ['-c64'], path: '/service-500/api/x' },
  'new connection each': { routes: 1, args: ['-c64', '-H', 'Connection: close'], path: '/' },
  '16 pipelined': { routes: 1, args: ['-c16', '-s', pipelined], path: '/' },
  '64 KB response': { routes: 1, args: ['-c64'], path: '/64k' },
  '10 MB response': { routes: 1, args: ['-c8'], path: '/10m' },
  'HTTP/2, 32 x 16 streams': { routes: 1, args: ['-c32', '-m16'], path: '/', http2: true },
  '1 MB upload': { routes: 1, args: ['-c16', '-s', upload], path: '/upload' },
};

/** wrk says `812.00us`, `1.20ms` or `2.01s`. */
function latencyMs(text, percentile) {
  const [, number, unit] = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
  return Number(number) * { us: 1e-3, ms: 1, s: 1e3 }[unit];
}

/** In cleartext, with prior knowledge: what speaks it on the same port as HTTP/1.1 takes part. */
function loadHttp2({ port, pid }, { args, path }, duration) {
  const before = cpuSeconds(pid);
  const all = ['-c', '1', 'h2load', '-t1', `-D${duration}`, ...args, `http://127.0.0.1:${port}${path}`];
  return new Promise((resolve, reject) => {
    execFile('taskset', all, (error, text) => {
      if (error) {
        reject(error);
        return;
      }
      const requests = Number(/(\d+) succeeded/.exec(text)?.[1] ?? 0);
      const failed = /\d+ succeeded, (?!0 failed)\d+ failed/.exec(text)?.[0];
      const cpu = cpuSeconds(pid) - before;
      resolve({ micros: (cpu / requests) * 1e6, perSecond: requests / duration, p50: 0, p99: 0, failed });
    });
  });
}

function load(proxy, test, duration) {
  return test.http2 ? loadHttp2(proxy, test, duration) : loadHttp1(proxy, test, duration);
}

function loadHttp1({ port, pid }, { args, path }, duration) {
  const before = cpuSeconds(pid);
  return new Promise((resolve, reject) => {
    const wrk = spawn('taskset', [
      '-c',
      '1',
      'wrk',
      '-t1',
      `-d${duration}s`,
      '--latency',
      ...args,
      `http://127.0.0.1:${port}${path}`,
    ]);
    let text = '';
    wrk.stdout.on('data', (chunk) => {
      text += chunk;
    });
    wrk.on('error', reject);
    wrk.on('close', () => {
      const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
      const cpu = cpuSeconds(pid) - before;
      const failed = /Socket errors.*|Non-2xx.*/.exec(text)?.[0];
      resolve({
        micros: (cpu / requests) * 1e6,
        perSecond: requests / duration,
        p50: latencyMs(text, '50%'),
        p99: latencyMs(text, '99%'),
        failed,
      });
    });
  });
}

const fixedRate = 5_000;
const clients = 50;

/** Latency of each request at `fixedRate` a second, in milliseconds: the p50 and p99 of one run of h2load. */
function latencyAtFixedRate({ port }, duration) {
  const file = join(folder, 'latency.log');
  rmSync(file, { force: true });
  const perClient = fixedRate / clients;
  const { path } = cases['small GET, 1,000 routes'];
  const args = ['--h1', `-c${clients}`, '-t1', `-n${fixedRate * duration}`, `--rps=${perClient}`, `--log-file=${file}`];
  execFileSync('taskset', ['-c', '1', 'h2load', ...args, `http://127.0.0.1:${port}${path}`], { stdio: 'ignore' });
  const answers = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t').map(Number));
  const failed = answers.filter(([, status]) => status !== 200).length;
  const sorted = answers.map(([, , micros]) => micros / 1_000).toSorted((a, b) => a - b);
  return { p50: sorted[Math.floor(sorted.length * 0.5)], p99: sorted[Math.floor(sorted.length * 0.99)], failed };
}

async function runFixedRate(names, upstreamPort) {
  const running = await startAll(names, upstreamPort, 1000);
  for (const name of names) latencyAtFixedRate(running[name], 1);
  const results = await inTurn(names, (name) => latencyAtFixedRate(running[name], seconds));
  console.log(`\n${fixedRate} requests a second, 1,000 routes`);
  const p99s = medians(names, results, 'p99');
  const p50s = medians(names, results, 'p50');
  for (const name of names) {
    const failed = results[name].reduce((sum, result) => sum + result.failed, 0);
    const latency = `p50 ${p50s[name].toFixed(2)} ms p99 ${p99s[name].toFixed(2)} ms`;
    console.log(`  ${name.padEnd(8)} ${latency}${ratios(name, p99s)} ${failed === 0 ? '' : `${failed} failed`}`);
  }
  stopAll(running);
}

async function startAll(names, upstreamPort, routes) {
  const running = {};
  for (const name of names) running[name] = await proxies[name](upstreamPort, routes);
  return running;
}

function stopAll(running) {
  for (const { pid } of Object.values(running)) process.kill(pid);
}

/** `runs` results for each name, each round on all of them. */
async function inTurn(names, measure) {
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let run = 0; run < runs; run++) for (const name of names) results[name].push(await measure(name));
  return results;
}

const medians = (names, results, key) =>
  Object.fromEntries(names.map((name) => [name, median(results[name].map((result) => result[key]))]));

/** How the figure compares with those of the proxies that are not Sluice. */
function ratios(name, figures) {
  const others = name.startsWith('sluice') ? Object.keys(figures).filter((other) => !other.startsWith('sluice')) : [];
  return others.map((other) => `, ${(figures[name] / figures[other]).toFixed(2)} x ${other}`).join('');
}

async function runCase(title, test, names, upstreamPort) {
  const running = await startAll(names, upstreamPort, test.routes);
  for (const name of names) await load(running[name], test, 2);
  const results = await inTurn(names, (name) => load(running[name], test, seconds));
  console.log(`\n${title}`);
  const micros = medians(names, results, 'micros');
  const perSecond = medians(names, results, 'perSecond');
  const p50s = medians(names, results, 'p50');
  const p99s = medians(names, results, 'p99');
  for (const name of names) {
    const cpu = `${micros[name].toFixed(1).padStart(8)} µs CPU/request`;
    const rate = `${perSecond[name].toFixed(0).padStart(7)} req/s`;
    // h2load says no percentiles.
    const latency = p50s[name] === 0 ? '' : `p50 ${p50s[name].toFixed(2)} ms p99 ${p99s[name].toFixed(2)} ms`;
    const failed = results[name].find((result) => result.failed)?.failed ?? '';
    console.log(`  ${name.padEnd(8)} ${cpu} ${rate} ${latency}${ratios(name, micros)} ${failed}`);
  }
  stopAll(running);
}

function cleanUp() {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    cleanUp();
    process.exit(130);
  });

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

async function idleRss(name, upstreamPort) {
  const proxy = await proxies[name](upstreamPort, 1);
  const before = rssKb(proxy.pid);
  const { connect } = await import('node:net');
  const count = 10_000;
  const sockets = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(proxy.port, '127.0.0.1');
    sockets.push(socket);
    if (i % 100 === 99) {
      await Promise.all(
        sockets
          .slice(-100)
          .map((s) => new Promise((resolve) => s.once('data', resolve).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))),
      );
    }
  }
  const perConnection = (rssKb(proxy.pid) - before) / count;
  for (const socket of sockets) socket.destroy();
  return perConnection;
}

try {
  const names = Object.keys(proxies).filter(
    (name) => (name.startsWith('sluice') || installed(name)) && (!only || only.includes(name)),
  );
  const upstreamPort = await upstream();
  const wanted = process.env.CASES?.split(';');
  for (const [title, test] of Object.entries(cases)) {
    if (wanted && !wanted.some((part) => title.includes(part))) continue;
    const able = test.http2 ? names.filter((name) => name !== 'nginx' && name !== 'caddy') : names;
    await runCase(title, test, able, upstreamPort);
  }
  if ((!wanted || wanted.includes('fixed')) && installed('h2load')) await runFixedRate(names, upstreamPort);
  if (!wanted || wanted.includes('idle')) {
    console.log('\n10,000 idle keep-alive connections');
    for (const name of names)
      console.log(`  ${name.padEnd(8)} ${(await idleRss(name, upstreamPort)).toFixed(1)} KB RSS each`);
  }
} finally {
  cleanUp();
}
