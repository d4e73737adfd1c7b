// `requests tail`, `requests top`: what goes through the proxies of the nodes that are asked.

import { setTimeout as pause } from 'node:timers/promises';
import type { RecentRequest, ShownRequests } from '../../model/answers/request-answers.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { serverEvents } from '../connection/server-events.ts';
import { CommandFailure, exitCodes, wrongUsage } from '../exit.ts';
import { numberGiven } from '../flag-values.ts';
import { evaluatorFor } from '../output/form.ts';
import { type Column, printable, table } from '../output/text-table.ts';

const filters = {
  where: { kind: 'text', value: 'CEL', brief: 'Those for which it is true: status >= 500 && route == "shop"' },
  route: { kind: 'text', value: 'NAME', brief: 'Those of this route' },
  status: { kind: 'text', value: 'STATUS', brief: '404, or 5xx' },
} as const;

interface Filters {
  readonly where: string | undefined;
  readonly route: string | undefined;
  readonly status: string | undefined;
}

export const requestsTail = command({
  words: 'requests tail',
  brief: 'Follow requests as they are answered',
  text: 'Of the proxies of the nodes that `--server` names. `-o json` prints one object a line.',
  flags: { ...filters, limit: { kind: 'text', value: 'N', brief: 'Ends after so many' } },
  isEndless: true,
  hasForms: true,
  examples: [{ line: 'sluice requests tail --status 5xx', does: 'shows errors as they happen' }],
  async run(session, _, { limit, ...given }) {
    const where = whereOf(given);
    const most = limit === undefined ? Number.POSITIVE_INFINITY : numberGiven('limit', limit);
    const print = await printerOf(session);
    const { each } = await session.api();
    const streams = await Promise.all(each.map((api) => api.stream('/requests/stream', { where })));
    let left = most;
    const follow = async (stream: (typeof streams)[number]) => {
      for await (const { event, data } of serverEvents(stream)) {
        if (event === 'dropped') session.terminal.warn(`${data} requests are not shown`);
        if (event !== 'request' || left <= 0) continue;
        print(JSON.parse(data) as RecentRequest);
        left -= 1;
        if (left <= 0) return;
      }
      if (left > 0) throw new CommandFailure(exitCodes.unreachable, 'the stream ended');
    };
    try {
      await Promise.race(streams.map(follow));
    } finally {
      for (const stream of streams) stream.destroy();
    }
    return exitCodes.done;
  },
});

/** Joins the filters into one expression. */
function whereOf({ where, route, status }: Filters): string | undefined {
  // Alone it stays as it is, so that places in messages about it are those of the flag.
  if (route === undefined && status === undefined) return where;
  const parts = [
    ...(where === undefined ? [] : [`(${where})`]),
    ...(route === undefined ? [] : [`route == ${JSON.stringify(route)}`]),
    ...(status === undefined ? [] : [statusExpression(status)]),
  ];
  return parts.join(' && ');
}

function statusExpression(text: string): string {
  const [, digit] = /^([1-5])xx$/i.exec(text) ?? [];
  if (digit !== undefined) return `status >= ${digit}00 && status < ${Number(digit) + 1}00`;
  if (/^[1-5]\d\d$/.test(text)) return `status == ${text}`;
  throw wrongUsage(`--status must be a status such as 404, or 5xx, not ${text}`);
}

async function printerOf({ terminal, form }: Session): Promise<(request: RecentRequest) => void> {
  if (form.is === 'json') return (request) => terminal.print(JSON.stringify(request));
  if (form.is === 'cel') {
    const evaluate = await evaluatorFor(form);
    return (request) => terminal.print(evaluate(request));
  }
  return (request) => {
    const { time, method, host, path, status, route, endpoint, durationMs, error } = request;
    const shown = terminal.paint(status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green', String(status));
    const parts = [time.slice(11, 23), shown, method, `${host}${path}`, `route=${route || '-'}`, `${durationMs} ms`];
    const more = [endpoint && `endpoint=${endpoint}`, error && `error=${error}`].filter(Boolean);
    terminal.print(
      printable([...parts.slice(0, 1), ...parts.slice(2), ...more].join('  '), true).replace('  ', `  ${shown}  `),
    );
  };
}

interface RouteRow {
  readonly route: string;
  readonly requests: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const topFlags = { ...filters, once: { kind: 'switch', brief: 'Print it once' } } as const;
const refreshMs = 2_000;

export const requestsTop = command({
  words: 'requests top',
  brief: 'Show the routes with the most recent requests',
  text: 'Of the requests that the nodes which `--server` names remember. On a terminal it is drawn anew every two seconds.',
  flags: topFlags,
  isEndless: true,
  hasForms: true,
  async run(session, _, { once, ...given }) {
    const where = whereOf(given);
    const { each } = await session.api();
    const { terminal, form } = session;
    const isLive = !once && terminal.isLive && form.is === 'table';
    for (;;) {
      const rows = await topRows(each, where);
      if (form.is === 'json') terminal.print(JSON.stringify(rows, undefined, 2));
      else terminal.write(`${isLive ? '\u001b[H\u001b[2J' : ''}${table(rows, columns)}`);
      if (!isLive) return exitCodes.done;
      await pause(refreshMs);
    }
  },
});

const columns: readonly Column<RouteRow>[] = [
  { title: 'route', cell: ({ route }) => route || '(none)' },
  { title: 'requests', isNumber: true, cell: ({ requests }) => String(requests) },
  { title: 'errors', isNumber: true, cell: ({ errors, requests }) => `${((errors / requests) * 100).toFixed(1)} %` },
  { title: 'p50', isNumber: true, cell: ({ p50Ms }) => `${p50Ms.toFixed(1)} ms` },
  { title: 'p99', isNumber: true, cell: ({ p99Ms }) => `${p99Ms.toFixed(1)} ms` },
];

async function topRows(each: readonly Api[], where: string | undefined): Promise<RouteRow[]> {
  const lists = await Promise.all(
    each.map((api) => api.get<ShownRequests>('/requests', { limit: '1000', ...(where && { where }) })),
  );
  const byRoute = Map.groupBy(
    lists.flatMap(({ requests }) => requests),
    ({ route }) => route,
  );
  const rows = [...byRoute].map(([route, all]): RouteRow => {
    const times = all.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    // A sampled request stands for several.
    const weight = (chosen: readonly RecentRequest[]) => chosen.reduce((sum, { oneIn }) => sum + oneIn, 0);
    const errors = weight(all.filter(({ status }) => status >= 500));
    return { route, requests: weight(all), errors, p50Ms: at(0.5), p99Ms: at(0.99) };
  });
  return rows.sort((a, b) => b.requests - a.requests || (a.route < b.route ? -1 : 1));
}
