// Decision of a chain about a request that is not served: middlewares that decide alone run their own phases, the
// others count as letting it pass.
import { type Link, refusesOneOf, takesPart } from '../exchange/entry.ts';
import type { LocalReply, LonePhases } from '../exchange/phase.ts';
import { editedLines } from '../fields/field-edits.ts';
import type { Action, RankedEntry } from '../match/route-entry.ts';
import type { ShadowExchange } from './shadow-exchange.ts';

/** End of a request before the action of its entry. */
interface Ending {
  /** False: an answer to a preflight. */
  readonly isRejection: boolean;
  /** Content of the answer. */
  readonly text: string;
}

export interface ChainDecision {
  /** Undefined: the action is reached. */
  readonly ending: Ending | undefined;
  /** Names of the middlewares that took part, outermost first. */
  readonly ran: string;
  /** Fields of the request behind the chain, and those that the chain changes in a response. */
  readonly requestFields: string;
  readonly responseFields: string;
}

/** `body`: it depends on a body that is not there. `later`: on keys that are not there yet. */
export type Undecided = 'body' | 'later';

/** @param readsBodies false: no expression has a body */
export function decideChain(
  entry: RankedEntry,
  exchange: ShadowExchange,
  readsBodies: boolean,
): ChainDecision | Undecided {
  const { request, response } = exchange;
  const { links, refusing, closed, bodyBytesMax = exchange.bodyBytesMax } = entry;
  exchange.clear();
  if (refusing !== undefined && refusesOneOf(refusing, request)) return ended('repeated_field');
  if (bodyBytesMax > 0 && request.bodyKind === 'length' && request.bodyLength > bodyBytesMax)
    return ended('body_too_large');
  if (closed !== undefined) return ended(closed);
  const passed: { readonly phases: LonePhases; readonly slot: number }[] = [];
  let ran = '';
  for (let slot = 0; slot < links.length; slot++) {
    const link = links[slot];
    if (link === undefined) break;
    if (link.needsBody && readsBodies && !request.view.hasBody) return 'body';
    const { alone } = link.phases;
    if (!takesPart(link, request)) {
      alone?.onSkip?.(exchange);
      continue;
    }
    ran += `${link.name}\n`;
    if (alone === undefined) continue;
    passed.push({ phases: alone, slot });
    const result = alone.onRequest?.(exchange, slot);
    if (result instanceof Promise) return 'later';
    if (result !== undefined) return endedBy(link, result, ran);
  }
  const own = headersOf(entry.action);
  if (own !== undefined) passed.push({ phases: own, slot: links.length });
  own?.onRequest?.(exchange, links.length);
  response.status = 200;
  for (const { phases, slot } of passed.reverse()) phases.onResponse?.(exchange, slot);
  return {
    ending: undefined,
    ran,
    requestFields: textOf(editedLines(request.lines, request.edits)),
    responseFields: textOf(editedLines(response.lines, response.edits), removedNames(exchange)),
  };
}

const headersOf = (action: Action | undefined): LonePhases | undefined =>
  action?.kind === 'forward' ? action.plan.headers?.alone : undefined;

const ended = (text: string): ChainDecision => ({
  ending: { isRejection: true, text },
  ran: '',
  requestFields: '',
  responseFields: '',
});

const endedBy = ({ type }: Link, { status, fields, body }: LocalReply, ran: string): ChainDecision => ({
  ending: { isRejection: type !== 'cors', text: `${status}\n${fields.join('\n')}\n${Buffer.from(body).toString()}` },
  ran,
  requestFields: '',
  responseFields: '',
});

/** Lines in the order of their names: the order of different names means nothing (RFC 9110 §5.3). */
function textOf(lines: ReturnType<typeof editedLines>, removed = ''): string {
  return Array.from(lines, ([lower, , value]) => [lower, value] as const)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
    .concat(removed);
}

const removedNames = ({ response: { edits } }: ShadowExchange): string => edits.removedNames().toSorted().join('\n');
