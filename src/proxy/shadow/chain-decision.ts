// Decision of a chain about a request that is not served: middlewares that decide alone run their own phases, the
// others count as letting it pass.
import { type Link, refusesOneOf, takesPart } from '../exchange/entry.ts';
import type { LocalReply, LonePhases } from '../exchange/phase.ts';
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
}

/** `body`: it depends on a body that is not there. `later`: on keys that are not there yet. */
export type Undecided = 'body' | 'later';

/**
 * Leaves the request and the response of the exchange as the chain makes them.
 *
 * @param readsBodies false: no expression has a body
 */
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
  if (links.length === 0) return edited(entry, exchange);
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
  for (let at = passed.length - 1; at >= 0; at--) {
    const each = passed[at];
    each?.phases.onResponse?.(exchange, each.slot);
  }
  return ran === '' ? nothingRan : { ending: undefined, ran };
}

const nothingRan: ChainDecision = { ending: undefined, ran: '' };

/** Without a middleware the changes of the action to fields are all there is. */
function edited({ action }: RankedEntry, exchange: ShadowExchange): ChainDecision {
  const own = headersOf(action);
  if (own !== undefined) void own.onRequest?.(exchange, 0);
  exchange.response.status = 200;
  if (own !== undefined) own.onResponse?.(exchange, 0);
  return nothingRan;
}

const headersOf = (action: Action | undefined): LonePhases | undefined =>
  action?.kind === 'forward' ? action.plan.headers?.alone : undefined;

const ended = (text: string): ChainDecision => ({
  ending: { isRejection: true, text },
  ran: '',
});

const endedBy = ({ type }: Link, { status, fields, body }: LocalReply, ran: string): ChainDecision => ({
  ending: { isRejection: type !== 'cors', text: `${status}\n${fields.join('\n')}\n${Buffer.from(body).toString()}` },
  ran,
});
