// Endpoints of destinations as the proxy of this node sees them, and their drains (contract.md §3.8).

import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import { SluiceError } from '../errors.ts';
import type { DestinationState, EndpointDrain, EndpointStatus } from '../model/answers/endpoint-answers.ts';
import type { CircuitState } from '../model/circuit-states.ts';
import type { DrainedEndpoint } from '../model/drained-endpoint.ts';
import { withoutBody } from '../resources/checked-body.ts';
import { idempotencyOf } from '../resources/preconditions.ts';
import type { Answer, ApiRequest } from '../resources/resource-answer.ts';
import type { StateReader } from '../resources/state-reader.ts';
import { acceptedHeaders } from '../resources/write-outcome.ts';
import type { Logger } from '../telemetry/logger.ts';

/** State of the destinations of a running proxy. */
export interface KnownEndpoints {
  endpointsOf(destination: string): readonly EndpointStatus[] | undefined;
  destinationIds(): readonly string[];
  nameOf(destination: string): string | undefined;
  circuit(destination: string): CircuitState | undefined;
}

interface Parts {
  readonly reader: StateReader;
  readonly log: ReplicatedLog;
  readonly known: () => KnownEndpoints;
  readonly logger: Logger;
}

/** Destinations that one answer names. */
const listedMax = 1_000;

export class EndpointOperations {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with the endpoints of a destination; none of one that is staged and not active. Throws NOT_FOUND. */
  read(id: string): Answer {
    const shown = this.#shown(id);
    if (shown !== undefined) return answer(shown);
    const staged = this.#parts.reader.view.get('destinations', id);
    if (staged === undefined) throw new SluiceError('NOT_FOUND', `destination ${JSON.stringify(id)} not found`);
    return answer({ destinationId: id, name: staged.name, circuit: null, endpoints: [] } satisfies DestinationState);
  }

  /** 200 with the destinations of which something does not serve, or with all. */
  list(isAll: boolean): Answer {
    const found: DestinationState[] = [];
    for (const id of this.#parts.known().destinationIds()) {
      const shown = this.#shown(id);
      if (shown === undefined) continue;
      const endpoints = isAll ? shown.endpoints : shown.endpoints.filter(({ state }) => state !== 'available');
      const isOpen = shown.circuit !== null && shown.circuit !== 'closed';
      if (isAll || endpoints.length > 0 || isOpen) found.push({ ...shown, endpoints });
      if (found.length >= listedMax) break;
    }
    return answer(found);
  }

  /** 200 with the endpoint. Throws NOT_FOUND, and CONFLICT when too many are drained. */
  async drain({ destinationId, endpoint }: DrainedEndpoint, drained: boolean, request: ApiRequest): Promise<Answer> {
    const { log, logger, reader, known } = this.#parts;
    const isKnown =
      known()
        .endpointsOf(destinationId)
        ?.some((each) => each.endpoint === endpoint) === true;
    const isDrained = (): boolean =>
      reader.view.drains.endpoints.some((each) => each.destinationId === destinationId && each.endpoint === endpoint);
    if (!isKnown && !isDrained()) {
      const which = `endpoint ${JSON.stringify(endpoint)} of destination ${JSON.stringify(destinationId)}`;
      throw new SluiceError('NOT_FOUND', `${which} is not active`);
    }
    const unknownFields = await withoutBody(request);
    const idempotency = drained ? idempotencyOf(request) : {};
    const result = await log.propose({ op: 'drain', id: destinationId, endpoint, drained, ...idempotency });
    const headers = { ...acceptedHeaders(result), ...unknownFields };
    const about = { destination: destinationId, endpoint, by: request.caller.name };
    logger.info(about, drained ? 'an endpoint is drained' : 'an endpoint is drained no more');
    return { status: 200, headers, body: JSON.stringify({ destinationId, endpoint, drained } satisfies EndpointDrain) };
  }

  #shown(id: string): DestinationState | undefined {
    const { known } = this.#parts;
    const endpoints = known().endpointsOf(id);
    const name = known().nameOf(id);
    if (endpoints === undefined || name === undefined) return undefined;
    return { destinationId: id, name, circuit: known().circuit(id) ?? null, endpoints };
  }
}

const answer = (body: object): Answer => ({ status: 200, headers: {}, body: JSON.stringify(body) });
