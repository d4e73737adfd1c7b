// Body of `POST /diff`: two configurations, and the requests that are replayed against them.
import { SluiceError } from '../../errors.ts';
import { isObject, type JsonObject } from '../../model/json-object.ts';
import { describe, type Problem, pointerOf } from '../../model/problem.ts';
import { replayMax } from '../../model/replay-limit.ts';

export interface DiffQuestion {
  /** `active`, `staged`, or the id of a snapshot. */
  readonly from: string;
  readonly to: string;
  /** Undefined: no requests are replayed. */
  readonly replay: ReplayQuestion | undefined;
}

export interface ReplayQuestion {
  readonly limit: number;
  /** Expression as in `GET /requests`; undefined: all. */
  readonly where: string | undefined;
}

const fields = new Set(['from', 'to', 'replay']);
const replayFields = new Set(['limit', 'where']);

/** Throws INVALID, naming each wrong field. `unknown` gets the pointers of fields that do not exist. */
export function diffQuestion(body: JsonObject, unknown: string[]): DiffQuestion {
  const problems: Problem[] = [];
  const refuse = (pointer: string, message: string): undefined => void problems.push({ pointer, message });
  // Typed clients send null and empty texts for what they leave out (contract.md §0.2 J4, J5).
  const text = (of: JsonObject, field: string, at = ''): string => {
    const value = of[field] ?? '';
    return typeof value === 'string' ? value : (refuse(at + pointerOf(field), 'must be a string') ?? '');
  };
  for (const field of Object.keys(body)) if (!fields.has(field)) unknown.push(pointerOf(field));
  const question = {
    from: text(body, 'from') || 'active',
    to: text(body, 'to') || 'staged',
    replay: replayOf(body.replay ?? undefined),
  };
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
  return question;

  function replayOf(value: unknown): ReplayQuestion | undefined {
    if (value === undefined) return undefined;
    if (!isObject(value)) return refuse('/replay', 'must be an object or null');
    for (const field of Object.keys(value)) if (!replayFields.has(field)) unknown.push(pointerOf('replay', field));
    const limit = value.limit ?? replayMax;
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > replayMax)
      return refuse('/replay/limit', `must be an integer from 1 to ${replayMax}`);
    return { limit, where: text(value, 'where', '/replay') || undefined };
  }
}
