// Clients as they are in use, not ours: each asks through a real Sluice.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Client } from 'undici';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { listening } from '../support/proxy-bed.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { echoWebSocket } from '../support/web-socket-echo.ts';

const run = promisify(execFile);
const browser = 'chromium';
/** Chromium without a window, and without anything that it would ask of others by itself. */
const quietly = (): string[] => [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  `--user-data-dir=${newFolder()}`,
];
const upload = 'x'.repeat(300_000);
const assets = 100;

/** Reports of pages. */
const reports: unknown[] = [];

/** Echoes what is posted; the page loads its assets, counts them and writes the number into its title. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/report') void text(request).then((body) => response.end(void reports.push(JSON.parse(body))));
  else if (request.method === 'POST') request.pipe(response);
  else if (request.url === '/secure-page') {
    response.setHeader('content-type', 'text/html');
    response.end(securePage);
  } else if (request.url === '/page') {
    response.setHeader('content-type', 'text/html');
    response.end(page);
  } else if (request.url?.startsWith('/asset')) {
    response.setHeader('content-type', 'text/javascript');
    response.end('loaded++;');
  } else response.end('hello');
}

const scripts = Array.from({ length: assets }, (_, i) => `<script src="/asset-${i}.js"></script>`).join('');
const page = `<!doctype html><script>loaded = 0</script>${scripts}<script>document.title = "loaded " + loaded</script>`;

/** Says over which protocols its assets came, and what a WebSocket gave back. */
const securePage = `<!doctype html><script>loaded = 0</script>${scripts}<script>
  const socket = new WebSocket(location.href.replace('https', 'wss'));
  socket.onopen = () => socket.send('through');
  socket.onerror = () => report('failed');
  socket.onmessage = ({ data }) => report(data);
  function report(echoed) {
    const protocols = performance.getEntriesByType('resource').map((entry) => entry.nextHopProtocol);
    fetch('/report', { method: 'POST', body: JSON.stringify({ loaded, protocols: [...new Set(protocols)], echoed }) });
  }
</script>`;

describe('a client through the proxy', () => {
  const upstream = createServer({ keepAliveTimeout: 0 }, answer).on('upgrade', echoWebSocket);
  let sluice: SluiceProcess;
  let site: string;
  let securePort: number;

  before(async () => {
    const upstreamPort = await listening(upstream);
    sluice = await startSluice();
    const api = apiClient(sluice.url);
    const port = await freePort();
    site = `http://127.0.0.1:${port}`;
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    securePort = await freePort();
    const tls = makeCertificate({ dnsNames: ['sluice.test'] });
    await api.create('listeners', { name: 'secure', address: '127.0.0.1', port: securePort, http2: true, tls });
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort });
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.activateAs('v1');
  });

  after(async () => {
    await sluice.stop();
    upstream.closeAllConnections();
    upstream.close();
  });

  it('may be node:http', async () => {
    const request = httpRequest(`${site}/echo`, { method: 'POST' });
    request.end(upload);
    const [response] = await once(request, 'response');
    expect(response.statusCode).to.equal(200);
    expect(await text(response)).to.equal(upload);
  });

  it('may be undici, on one connection with pipelining', async () => {
    const client = new Client(site, { pipelining: 8 });
    const ask = async (): Promise<string> => (await client.request({ path: '/', method: 'GET' })).body.text();
    expect(new Set(await Promise.all(Array.from({ length: 50 }, ask)))).to.deep.equal(new Set(['hello']));
    const echoed = await client.request({ path: '/echo', method: 'POST', body: upload });
    expect(await echoed.body.text()).to.equal(upload);
    await client.close();
  });

  it('may be a WebSocket', async () => {
    const socket = new WebSocket(site.replace('http', 'ws'));
    await once(socket, 'open');
    for (const message of ['short', 'y'.repeat(5_000)]) {
      socket.send(message);
      const [event] = await once(socket, 'message');
      expect(event.data).to.equal(message);
    }
    socket.close();
    await once(socket, 'close');
  });

  it('may be curl, which waits for 100 Continue', async function () {
    needs(this, 'curl');
    const args = [
      '-sS',
      '--max-time',
      '10',
      '-v',
      '-H',
      'Expect: 100-continue',
      '--data-binary',
      upload.slice(0, 60_000),
    ];
    const { stdout, stderr } = await run('curl', [...args, `${site}/echo`]);
    expect(stdout).to.equal(upload.slice(0, 60_000));
    expect(stderr).to.contain('100 Continue');
  });

  it('may be wrk', async function () {
    needs(this, 'wrk');
    const { stdout } = await run('wrk', ['-t1', '-c16', '-d1s', `${site}/`]);
    expect(Number(/(\d+) requests in/.exec(stdout)?.[1])).to.be.greaterThan(100);
    expect(stdout).not.to.match(/Socket errors|Non-2xx/);
  });

  it(`may be Chromium, which loads a page with ${assets} assets`, async function () {
    needs(this, browser);
    const { stdout } = await run(browser, [...quietly(), '--dump-dom', `${site}/page`]);
    expect(stdout).to.contain(`<title>loaded ${assets}</title>`);
  });

  it(`may be Chromium, which speaks HTTP/2 over TLS, for ${assets} assets and a WebSocket`, async function () {
    needs(this, browser);
    const here = ['--ignore-certificate-errors', `--host-resolver-rules=MAP sluice.test 127.0.0.1:${securePort}`];
    const args = [...quietly(), ...here, '--remote-debugging-port=0', 'https://sluice.test/secure-page'];
    const chromium = spawn(browser, args, { stdio: 'ignore', detached: true });
    try {
      await eventually(() => expect(reports).not.to.be.empty);
    } finally {
      // The launcher and all that it has started.
      if (chromium.pid !== undefined) process.kill(-chromium.pid, 'SIGKILL');
    }
    expect(reports).to.deep.equal([{ loaded: assets, protocols: ['h2'], echoed: 'through' }]);
  });
});
