// Middleware type headers (contract.md §8.3): adds, replaces and removes fields of the request and of the response.
import { headersDefaults } from '../../model/defaults.ts';
import { parseAuthority } from '../../model/host-name.ts';
import type { HeadersConfig, HeaderToAdd } from '../../model/middleware/headers-options.ts';
import type { MiddlewarePhases } from '../exchange/phase.ts';
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
}

/**
 * Builds the middleware. Framing fields and hop-by-hop fields stay as they are in every configuration: the edits
 * refuse them.
 */
export function buildHeaders(config: HeadersConfig = {}): Headers {
  const { interpolate } = config;
  const toRequest = compileAdditions(config.requestHeadersToAdd, interpolate);
  const fromRequest = (config.requestHeadersToRemove ?? []).filter((name) => !isHost(name));
  const toResponse = compileAdditions(config.responseHeadersToAdd, interpolate);
  const fromResponse = config.responseHeadersToRemove ?? [];
  const ofRequest: MiddlewarePhases = {
    onRequest(exchange) {
      for (const { name, value, append } of toRequest) {
        const text = value.fill(exchange.request);
        if (append) exchange.appendRequestField(name, text);
        else if (!isHost(name) || parseAuthority(text) !== undefined) exchange.setRequestField(name, text);
      }
      for (const name of fromRequest) exchange.removeRequestField(name);
      return undefined;
    },
  };
  const ofResponse: MiddlewarePhases = {
    onResponse({ request, response: { edits } }) {
      for (const { name, value, append } of toResponse) {
        if (append) edits.append(name, value.fill(request));
        else edits.set(name, value.fill(request));
      }
      for (const name of fromResponse) edits.remove(name);
      return undefined;
    },
  };
  return {
    dryRun: (request) => ({
      changes: [
        ...toRequest.map(({ name, value, append }) => ({ name, value: readableText(value.fill(request)), append })),
        ...fromRequest.map((name) => ({ name, value: null, append: false })),
      ],
    }),
    ...(toRequest.length + fromRequest.length > 0 ? ofRequest : {}),
    ...(toResponse.length + fromResponse.length > 0 ? ofResponse : {}),
  };
}

const isHost = (name: string): boolean => name.toLowerCase() === 'host';

/** Compiles additions. A request has one Host: the upstream would refuse a second line of it. */
const compileAdditions = (
  additions: readonly HeaderToAdd[] = [],
  interpolated: boolean = headersDefaults.interpolate,
): readonly Addition[] =>
  additions.map(({ key, value, append = headersDefaults.append, interpolate = interpolated }) => ({
    name: key,
    value: interpolate ? compileRequestTemplate(value) : plainText(value),
    append: append && !isHost(key),
  }));
