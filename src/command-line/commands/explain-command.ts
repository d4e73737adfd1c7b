// `explain`: which route wins a request, and why the others lose, in words.

import type { EntryOutcome, ExplainedAnswer, ExplainedTarget } from '../../model/answers/explained-outcome.ts';
import type { ExplainCandidate, Explanation } from '../../model/answers/explanation.ts';
import { fieldChanges } from '../../model/entity-diff.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { readText } from '../connection/credentials.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { showValue } from '../output/form.ts';
import { printable } from '../output/text-table.ts';
import { findSnapshot } from '../plan/cluster-state.ts';
import { snapshotLiveAt } from './live-command.ts';

/** Flags that describe a request. */
export const explainFlags = {
  method: { kind: 'text', alias: 'X', value: 'METHOD', brief: 'Method; default GET' },
  header: { kind: 'texts', alias: 'H', value: 'NAME: VALUE', brief: 'Header field' },
  data: { kind: 'text', alias: 'd', value: 'BODY', brief: 'Body, or @FILE' },
  listener: {
    kind: 'text',
    value: 'NAME',
    brief: 'Listener that it comes in on; default: the one that the URL leads to',
  },
  sni: { kind: 'text', value: 'NAME', brief: 'Server name of the TLS handshake' },
  client: { kind: 'text', value: 'ADDRESS', brief: 'Address of the client; default 127.0.0.1' },
} as const;

export const explainCommand = command({
  words: 'explain',
  brief: 'Say which route wins a request, and why the others lose',
  arguments: [{ name: 'URL', brief: 'Path such as /cart?item=7, or an http URL' }],
  flags: {
    ...explainFlags,
    at: { kind: 'text', value: 'STATE', brief: 'active (default), staged, a snapshot, or when: 2h, or a timestamp' },
    compare: {
      kind: 'text',
      value: 'STATE',
      brief: 'Explain it there, too, and show what differs; exit code 3 when it does',
    },
  },
  hasForms: true,
  examples: [
    { line: "sluice explain http://shop.example/cart -X POST -H 'x-tenant: a'", does: 'says who answers it now' },
    { line: 'sluice explain /cart --compare staged', does: 'shows what becomes of it by what is staged' },
  ],
  async run(session, [url = ''], { at = 'active', compare, ...flags }) {
    const api = await session.api();
    const question = await questionOf(url, flags);
    const first = await explainedBy(api, question, await stateOf(session, at));
    if (compare === undefined) {
      await showValue(session.terminal, session.form, first, () => textOf(first));
      return exitCodes.done;
    }
    const second = await explainedBy(api, question, await stateOf(session, compare));
    const changes = fieldChanges(told(first), told(second));
    const differs = changes.length > 0;
    await showValue(session.terminal, session.form, { from: first, to: second, changes }, () =>
      differs ? `${at}:\n${textOf(first)}\n${compare}:\n${textOf(second)}` : `${textOf(first)}the same by ${compare}\n`,
    );
    return differs ? exitCodes.different : exitCodes.done;
  },
});

/** Parts that are compared: who wins, and what becomes of the request. */
export const told = ({ winner, middlewares, outcome }: Explanation) => ({ winner, middlewares, outcome });

export async function explainedBy(api: Api, question: object, snapshot: string): Promise<Explanation> {
  const { body } = await api.ask<Explanation>('POST', '/explain', { json: { ...question, snapshot } });
  return body;
}

interface RequestFlags {
  readonly method: string | undefined;
  readonly header: readonly string[];
  readonly data: string | undefined;
  readonly listener: string | undefined;
  readonly sni: string | undefined;
  readonly client: string | undefined;
}

/** Body of `POST /explain` without the configuration. */
export const questionOf = async (
  url: string,
  { method, header, data, listener, sni, client }: RequestFlags,
): Promise<object> => ({
  url,
  ...(method !== undefined && { method }),
  ...(client !== undefined && { clientIp: client }),
  ...(listener !== undefined && { listener }),
  ...(sni !== undefined && { sni }),
  ...(data !== undefined && { body: await bodyOf(data) }),
  headers: headersOf(header),
});

async function stateOf(session: Session, text: string): Promise<string> {
  if (text === 'active' || text === 'staged') return text;
  const isMoment = /^\d{4}-\d\d-\d\d[T ]/.test(text) || /^\d[\d.]*(ms|s|m|h)/.test(text);
  return isMoment ? await snapshotLiveAt(session, text) : (await findSnapshot(await session.api(), text)).id;
}

function headersOf(given: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const headers: Record<string, string[]> = {};
  for (const line of given) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw wrongUsage(`-H takes 'NAME: VALUE', not ${line}`);
    const name = line.slice(0, colon).trim().toLowerCase();
    headers[name] = [...(headers[name] ?? []), line.slice(colon + 1).trim()];
  }
  return headers;
}

const bodyOf = async (data: string): Promise<string> => (data.startsWith('@') ? await readText(data.slice(1)) : data);

function textOf(explanation: Explanation): string {
  const { request, winner, candidates, candidatesLeftOut, nearest, middlewares, notes } = explanation;
  const on = explanation.listener ? ` on ${explanation.listener.name}` : '';
  const lines = [`${request.method} ${request.host}${request.path} from ${request.clientIp}${on}`, ''];
  lines.push(
    winner === null ? 'no route matches' : `route ${nameOf(winner)} wins`,
    `  ${outcomeText(explanation.outcome)}`,
  );
  for (const { name, id, type, runs, because, expression } of middlewares)
    lines.push(
      `  ${runs ? 'runs' : 'skips'} ${name ?? id}${type === undefined ? '' : ` (${type})`}: ${expression ?? because}`,
    );
  const losers = candidates.filter(({ route }) => route.id !== winner?.route.id);
  if (losers.length > 0) lines.push('', 'others whose path agrees:', ...losers.map(loserText));
  if (candidatesLeftOut > 0) lines.push(`  and ${candidatesLeftOut} more`);
  if (nearest.length > 0) lines.push('', 'nearest:', ...nearest.map(loserText));
  for (const note of notes) lines.push(`note: ${note}`);
  return `${lines.map((line) => printable(line, true)).join('\n')}\n`;
}

const nameOf = ({ route, group }: Pick<ExplainCandidate, 'route' | 'group'>): string =>
  group === undefined ? route.name : `${route.name} of group ${group.name}`;

function loserText(candidate: ExplainCandidate): string {
  const { path, failed: reason, rankedBehind } = candidate;
  const place = `  ${nameOf(candidate)} (${path.type} ${path.value})`;
  if (reason !== undefined)
    return `${place}: ${reason.matcher} wants ${reason.wanted}, found ${reason.found ?? 'nothing'}`;
  if (rankedBehind === undefined) return place;
  const { key, winner, own } = rankedBehind;
  return `${place}: matches, but ${key} ranks behind (${String(own)}, the winner has ${String(winner)})`;
}

/** Returns the outcome of a request as a sentence. */
export function outcomeText(outcome: EntryOutcome): string {
  switch (outcome.action) {
    case 'forward': {
      const { destinations, upstream } = outcome;
      const names = destinations.map((each) => `${shareText(each)}${destinations.length > 1 ? ` ${each.weight}` : ''}`);
      return `forwards to ${names.join(', ')} as ${upstream.method} ${upstream.target} for ${upstream.host}`;
    }
    case 'redirect':
      return `redirects by ${outcome.status} to ${outcome.location}`;
    case 'directResponse':
      return `answers ${outcome.status} itself`;
    case 'middleware':
      return `middleware ${outcome.id} answers ${outcome.status}`;
    case 'error': {
      const { status, error, page } = outcome;
      return `answers ${status} ${error}${page === undefined ? '' : ` with the page of the ${page.of}`}`;
    }
  }
}

const shareText = (share: ExplainedTarget | ExplainedAnswer): string =>
  'directResponse' in share
    ? `a response ${share.directResponse.status}`
    : `${share.id}${share.exists ? '' : ' (does not exist)'}`;
