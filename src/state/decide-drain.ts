// Decision about a drain: which endpoints get no new requests (contract.md §3.8).
import { drainsMax } from '../model/drained-endpoint.ts';
import type { DrainEndpoint } from './command.ts';
import type { Overlay } from './overlay.ts';
import type { Decision } from './refusals.ts';

/** A drain that is there already, and the end of one that is not, change nothing. */
export function drain(state: Overlay, { id, endpoint, drained }: DrainEndpoint, index: number): Decision {
  const { endpoints } = state.live.drains;
  const others = endpoints.filter((each) => each.destinationId !== id || each.endpoint !== endpoint);
  if (drained === others.length < endpoints.length) return { status: 200 };
  if (drained && endpoints.length >= drainsMax)
    return { status: 409, error: `${drainsMax} endpoints are drained already` };
  state.setDrains({ index, endpoints: drained ? [...endpoints, { destinationId: id, endpoint }] : others });
  return { status: 200 };
}
