// `?wait=` and `?timeout=` of an activation (fleet.md §6): the answer comes when the proxies have it, and names those that have not.

import { SluiceError } from '../errors.ts';
import { type Want, wantOf, wantText } from '../fleet/convergence.ts';
import type { Convergence } from '../model/answers/fleet-answers.ts';
import { parseDuration } from '../model/duration.ts';
import { waitMsMax } from '../model/scalar.ts';
import { refuseEmpty, textOf } from './query.ts';
import type { ApiRequest } from './resource-answer.ts';

/** Resolves when so many proxies have the activation of that index, when one refuses it, or after `withinMs`. */
export type Converge = (index: number, want: Want, withinMs: number) => Promise<Convergence>;

export interface ActivationWait {
  readonly want: Want;
  readonly withinMs: number;
}

const standardMs = 5_000;

/** Returns the wait of a request; undefined without `?wait=`, whose `timeout` is then ignored. Throws INVALID. */
export function activationWaitOf(request: ApiRequest): ActivationWait | undefined {
  refuseEmpty(request, 'wait', wantText);
  return waitOf(textOf(request, 'wait'), textOf(request, 'timeout'));
}

/** The same from texts. */
export function waitOf(wait: string | undefined, timeout: string | undefined): ActivationWait | undefined {
  const withinMs = timeout === undefined ? standardMs : parseDuration(timeout);
  if (withinMs === undefined || withinMs <= 0 || withinMs > waitMsMax) {
    throw new SluiceError('INVALID', 'timeout must be a duration above 0 and of at most 60s');
  }
  return wait === undefined ? undefined : { want: wantOf(wait), withinMs };
}

/** Returns the JSON object with the member `convergence`. */
export const withConvergence = (json: string, convergence: Convergence | undefined): string =>
  convergence === undefined ? json : `${json.slice(0, -1)},"convergence":${JSON.stringify(convergence)}}`;
