// Middleware type headers (contract.md §8.3): adds, replaces and removes fields of the request and of the response.
import { type CelProgram, compileCel } from '../../expression/cel/compiled-program.ts';
import type { RequestView } from '../../expression/cel/value-view.ts';
import { headersDefaults } from '../../model/defaults.ts';
import { parseAuthority } from '../../model/host-name.ts';
import type { HeadersConfig, HeaderToAdd, ResponseHeaderToAdd } from '../../model/middleware/headers-options.ts';
import type { LonePhases, MiddlewarePhases } from '../exchange/phase.ts';
import { readableText } from '../fields/field-lines.ts';
import type { DryRun } from './dry-run.ts';
import { compileRequestTemplate, plainText, type RequestTemplate } from './request-template.ts';

export interface Headers extends MiddlewarePhases {
  readonly dryRun: DryRun;
}

interface Addition {
  readonly name: string;
  readonly value: RequestTemplate;
  readonly append: boolean;
  /** Undefined: always. */
  readonly condition: CelProgram<RequestView> | undefined;
}

interface Additions {
  readonly all: readonly Addition[];
  readonly isConditional: boolean;
  readonly needsBody: boolean;
  /** Returns those whose condition is true; one that fails is false. */
  chosen(request: { readonly view: RequestView }): readonly Addition[];
}

/**
 * Builds the middleware. Framing fields and hop-by-hop fields stay as they are in every configuration: the edits
 * refuse them. Throws where a condition does not compile.
 */
export function buildHeaders(config: HeadersConfig = {}): Headers {
  const { interpolate } = config;
  const toRequest = compileAdditions('request', config.requestHeadersToAdd, interpolate);
  const fromRequest = (config.requestHeadersToRemove ?? []).filter((name) => !isHost(name));
  const toResponse = compileAdditions('response', config.responseHeadersToAdd, interpolate);
  const fromResponse = config.responseHeadersToRemove ?? [];
  const ofRequest: LonePhases = {
    onRequest(exchange) {
      for (const { name, value, append } of toRequest.chosen(exchange.request)) {
        const text = value.fill(exchange.request);
        if (append) exchange.appendRequestField(name, text);
        else if (!isHost(name) || parseAuthority(text) !== undefined) exchange.setRequestField(name, text);
      }
      for (const name of fromRequest) exchange.removeRequestField(name);
      return undefined;
    },
  };
  const ofResponse: LonePhases = {
    onResponse({ request, response: { status, edits } }) {
      if (toResponse.isConditional) request.view.responseStatus = status;
      for (const { name, value, append } of toResponse.chosen(request)) {
        if (append) edits.append(name, value.fill(request));
        else edits.set(name, value.fill(request));
      }
      for (const name of fromResponse) edits.remove(name);
      return undefined;
    },
  };
  const alone: LonePhases = {
    ...(toRequest.all.length + fromRequest.length > 0 ? ofRequest : {}),
    ...(toResponse.all.length + fromResponse.length > 0 ? ofResponse : {}),
  };
  return {
    ...((toRequest.needsBody || toResponse.needsBody) && { needsBody: true }),
    dryRun: (request) => ({
      changes: [
        ...toRequest
          .chosen(request)
          .map(({ name, value, append }) => ({ name, value: readableText(value.fill(request)), append })),
        ...fromRequest.map((name) => ({ name, value: null, append: false })),
      ],
    }),
    alone,
    ...alone,
  };
}

const isHost = (name: string): boolean => name.toLowerCase() === 'host';

/** Compiles additions. A request has one Host: the upstream would refuse a second line of it. */
function compileAdditions(
  phase: 'request' | 'response',
  additions: readonly (HeaderToAdd | ResponseHeaderToAdd)[] = [],
  interpolated: boolean = headersDefaults.interpolate,
): Additions {
  const all = additions.map(
    ({ key, value, append = headersDefaults.append, interpolate = interpolated, when }): Addition => ({
      name: key,
      value: interpolate ? compileRequestTemplate(value) : plainText(value),
      append: append && !isHost(key),
      condition: when === undefined ? undefined : compileCel(when, phase, 'bool'),
    }),
  );
  const isConditional = all.some(({ condition }) => condition !== undefined);
  return {
    all,
    isConditional,
    needsBody: all.some(({ condition }) => condition?.needsBody === true),
    // Before the first edit: no condition sees what another edit of the same middleware does.
    chosen: isConditional ? ({ view }) => all.filter((addition) => isDue(addition, view)) : () => all,
  };
}

const isDue = ({ condition }: Addition, view: RequestView): boolean =>
  condition === undefined || condition.decide(view) === true;
