// `npm run bench:diff [-- --routes 10000 --requests 10000]`: findings of a table, and a replay of recorded requests against it and
// against the same with one route changed, in CPU time of this thread and with the longest turn of its event loop. Targets (issue
// “See a change before it is live”): 10,000 requests and routes 1 s; findings of 100,000 routes 3 s; no thread held over 20 ms.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { findingsOf } from '../../src/findings/findings.ts';
import type { Configuration } from '../../src/model/proxy-config.ts';
import type { RecordedPage } from '../../src/model/recent-request.ts';
import { replay } from '../../src/proxy/replay/replay.ts';
import { RequestHistory } from '../../src/proxy/requests/request-history.ts';
import { newRing, RequestRing } from '../../src/proxy/requests/request-ring.ts';
import { cleanTable } from '../support/clean-table.ts';

const { values } = optionsOf(import.meta.url, {
  options: { routes: { type: 'string', default: '10000' }, requests: { type: 'string', default: '10000' } },
});
const routes = Number(values.routes);
const count = Number(values.requests);

const from = cleanTable(routes);
const [first, ...others] = from.routes;
const to = { ...from, routes: [{ ...first, match: { path: '/elsewhere' } }, ...others] } as Configuration;

const shape = newRing(count, 1, ['x-tenant']);
const ring = new RequestRing(shape);
const history = new RequestHistory(shape);
const numbers = {
  ...{
    timeMs: 0,
    durationMs: 1,
    proxyMs: 1,
    connectMs: 0,
    firstByteMs: 0,
    index: 1,
    oneIn: 1,
    status: 200,
    attempts: 1,
    protocol: 'HTTP/1.1',
    error: '',
  },
  ...{ secure: false, candidate: false },
};
for (let at = 0; at < count; at++) {
  const of = at % routes;
  const path = of % 4 === 0 ? `/s${of % 100}/i${of}` : `/s${of % 100}/p${of}/more`;
  const fields = [
    'GET',
    `h${of % 1000}.test`,
    '',
    '',
    '',
    '',
    '',
    '',
    'web',
    'web',
    '',
    of % 7 === 0 ? `=t${of}` : '',
    path,
  ];
  ring.write(0, { ...numbers, timeMs: at }, fields.join('\0'));
}

async function* pages(): AsyncGenerator<RecordedPage> {
  for (let before: number | null | undefined; before !== null; ) {
    const page: RecordedPage = await history.page(200, () => true, before);
    yield page;
    before = page.before;
  }
}

const cpuNow = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Most CPU time of one turn of the event loop is that for which other work waits, however busy the machine is. */
async function measured<T>(what: string, run: () => Promise<T>): Promise<T> {
  const [cpu, wall] = [cpuNow(), performance.now()];
  const turns = { last: cpu, longest: 0, isOver: false };
  const turn = (): void => {
    const now = cpuNow();
    turns.longest = Math.max(turns.longest, now - turns.last);
    turns.last = now;
    if (!turns.isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await run();
  turns.isOver = true;
  const ms = `${(cpuNow() - cpu).toFixed(0)} ms of CPU, ${(performance.now() - wall).toFixed(0)} ms`;
  console.log(`${what.padEnd(44)} ${ms}, one turn ${turns.longest.toFixed(0)} ms at most`);
  return result;
}

for (let round = 0; round < 3; round++) {
  await measured(`findings of ${routes} routes`, () => findingsOf(from, { nowMs: Date.now() }));
  const report = await measured(`replay of ${count} requests, ${routes} routes`, () => replay(from, to, pages()));
  if (report.requests !== count) throw new Error(`${report.requests} requests were replayed`);
}
