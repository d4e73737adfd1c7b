// The dashboard, the alerts and the questions of docs/observability.md on a live process, asked by a real Prometheus, and what
// promtool says of the expositions. Left out where Prometheus is not installed.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { rawExchange } from '../support/proxy-bed.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Without the comparisons that make an expression silent while all is well. */
const withoutBounds = (expression: string): string => expression.replace(/\s(==|>|<)\s[\d.]+(\s\*\s\d+)?/g, '');

/** Families without a series here: one node has no peers and is no proxy apart, and the others begin with the first of a kind. */
const happensLater =
  /sluice_raft_peer_|sluice_clock_offset_|sluice_serves_copy|sluice_session_store_up|sluice_route_retries_total|sluice_mirror_|sluice_middleware_rejections_total|sluice_consumer_requests_total|sluice_compress_|sluice_basic_auth_|sluice_rate_limit_|sluice_listener_proxy_headers_|sluice_error_pages_|sluice_stream_connect_retries_total/;

const folder = new URL('../../deploy/observability/', import.meta.url).pathname;
const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** Runs promtool and returns its output; rejects with the output when it fails. */
function promtool(args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('promtool', args, { cwd: folder }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new Error(`promtool ${args.join(' ')}: ${stdout}${stderr}`));
    });
    child.stdin?.end(input);
  });
}

describe('metrics, dashboard and alerts with Prometheus', () => {
  let node: SluiceProcess;
  let upstream: Upstream;
  let api: ApiClient;
  let port: number;
  let tcpPort: number;
  let metricsPort: number;
  let prometheus: ChildProcess;
  let base: string;
  let stopped = false;

  before(async function () {
    needs(this, 'prometheus', 'promtool');
    upstream = await startUpstream('backend', (request, response) => {
      response.writeHead(request.url?.includes('bad') ? 500 : 200).end('ok');
    });
    metricsPort = await freePort();
    node = await startSluice({ more: `proxy: { workers: 2, metrics: { address: "127.0.0.1:${metricsPort}" } }` });
    api = apiClient(node.url);
    port = await freePort();
    const collect = { route: true, destination: true, endpoint: true, middleware: true, listener: true };
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, metrics: { collect } });
    const { cert, key } = makeCertificate({ dnsNames: ['localhost'] });
    await api.create('listeners', { name: 'tls', address: '127.0.0.1', port: await freePort(), tls: { cert, key } });
    const breaker = { options: { circuitBreaker: { failureThreshold: 1000 } } };
    await api.create('destinations', { id: 'd', name: 'd', host: '127.0.0.1', port: upstream.port, ...breaker });
    await api.create('middlewares', { id: 'h', name: 'h', type: 'headers', headers: {} });
    const name = 'a "quoted" \\ route, ünïcode';
    await api.create('routes', { name, middlewareIds: ['h'], forward: { destinations: [{ destinationId: 'd' }] } });
    tcpPort = await freePort();
    const tcp = { protocol: 'tcp', address: '127.0.0.1', port: tcpPort, metrics: { collect } };
    await api.create('listeners', { name: 'tcp', ...tcp });
    await api.create('streamRoutes', { name: 'tcp', forward: { destinations: [{ destinationId: 'd' }] } });
    await api.create('destinations', { id: 'down', name: 'down', host: '127.0.0.1', port: await freePort() });
    const match = { pathPrefix: '/down' };
    const rateLimit = { scope: 'cluster', requestsPerSecond: 10_000 };
    await api.create('middlewares', { id: 'shared', name: 'shared', type: 'rateLimit', rateLimit });
    const down = { match, middlewareIds: ['shared'], forward: { destinations: [{ destinationId: 'down' }] } };
    await api.create('routes', { name: 'down', ...down });
    await api.activateAs('v1');
    base = await startPrometheus();
    void traffic();
  });

  after(async () => {
    stopped = true;
    prometheus?.kill('SIGKILL');
    await node?.stop();
    await upstream?.close();
  });

  async function traffic(): Promise<void> {
    while (!stopped) {
      for (const path of ['ok', 'ok', 'bad', 'down']) {
        await fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: 'x' })
          .then((response) => response.text())
          .catch(() => undefined);
      }
      await rawExchange(tcpPort, 'GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').catch(() => undefined);
      await api.put('/log-level', { level: 'info' }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Base URL of its API. */
  async function startPrometheus(): Promise<string> {
    const own = newFolder();
    const address = `127.0.0.1:${await freePort()}`;
    const targets = [`127.0.0.1:${port}`, `127.0.0.1:${metricsPort}`, new URL(node.url).host];
    const config = {
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '1s' },
      rule_files: [join(folder, 'alerts.yml')],
      scrape_configs: [{ job_name: 'sluice', static_configs: [{ targets }] }],
    };
    // JSON is YAML.
    writeFileSync(join(own, 'prometheus.yml'), JSON.stringify(config));
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(own, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(own, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: 'ignore' },
    );
    return `http://${address}/api/v1`;
  }

  /** Returns the number of series of an expression now. */
  async function seriesOf(expression: string): Promise<number> {
    const query = expression.replaceAll('$__rate_interval', '10s').replace(/\[5m\]|\[1h\]|\[10m\]/g, '[10s]');
    const answer = await fetch(`${base}/query?query=${encodeURIComponent(query)}`);
    const { data, error } = (await answer.json()) as { data?: { result: unknown[] }; error?: string };
    if (data === undefined) throw new Error(`${expression}: ${error}`);
    return data.result.length;
  }

  async function expectData(expressions: readonly string[]): Promise<void> {
    await eventually(async () => {
      const empty: string[] = [];
      for (const expression of expressions) if ((await seriesOf(expression)) === 0) empty.push(expression);
      expect(empty).to.deep.equal([]);
    });
  }

  it('promtool takes the expositions of a listener and of a node', async () => {
    for (const url of [port, metricsPort]
      .map((each) => `http://127.0.0.1:${each}/metrics`)
      .concat(`${node.url}/metrics`)) {
      const said = await promtool(['check', 'metrics'], await (await fetch(url)).text()).catch(
        (error: Error) => error.message,
      );
      // It knows better than the contract what gauges and seconds are called; faults in the format are what counts.
      expect(said, url).not.to.match(/error while linting|parsing|duplicate/i);
    }
  });

  it('promtool takes the alert rules and their tests', async () => {
    expect(await promtool(['check', 'rules', 'alerts.yml'])).to.contain('SUCCESS');
    expect(await promtool(['test', 'rules', 'alerts.test.yml'])).to.contain('SUCCESS');
  });

  it('every panel of the dashboard shows something', async () => {
    const { panels } = JSON.parse(read('deploy/observability/dashboard.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).to.be.above(30);
    // A flat line of zeros without data looks like calm.
    expect(expressions.filter((expression) => expression.includes('vector('))).to.deep.equal([]);
    await expectData(expressions.map(withoutBounds).filter((expression) => !happensLater.test(expression)));
  });

  it('every alert asks for something that there is', async () => {
    const { groups } = parse(read('deploy/observability/alerts.yml')) as { groups: { rules: { expr: string }[] }[] };
    const all = groups.flatMap(({ rules }) => rules.map(({ expr }) => withoutBounds(expr.trim())));
    const expressions = all.filter((expression) => !happensLater.test(expression));
    expect(all.length - expressions.length).to.equal(4);
    await expectData(expressions.map((expression) => expression.replace(/^absent\((.*)\)$/s, '$1')));
  });

  it('every alert has a test in which it fires and one in which it is silent', () => {
    const { groups } = parse(read('deploy/observability/alerts.yml')) as { groups: { rules: { alert: string }[] }[] };
    const { tests } = parse(read('deploy/observability/alerts.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const { alert } of groups.flatMap(({ rules }) => rules)) {
      const own = cases.filter(({ alertname }) => alertname === alert);
      expect(
        own.some(({ exp_alerts }) => exp_alerts.length > 0),
        `${alert} fires`,
      ).to.equal(true);
      expect(
        own.some(({ exp_alerts }) => exp_alerts.length === 0),
        `${alert} is silent`,
      ).to.equal(true);
    }
  });

  it('every question of the page has an answer', async () => {
    const page = read('docs/observability.md');
    const questions = [...page.slice(page.indexOf('## Five questions')).matchAll(/^ {7}(\S.*)$/gm)];
    expect(questions).to.have.length(5);
    await expectData(questions.map(([, query = '']) => query));
  });
});
