// Middleware type apiKey (contract.md §8.12): only requests with the key of a consumer pass, and the consumer is named to
// what follows. Keys are read, compared by their hash, and kept from the upstream.
import type { ConsumerFacts } from '../../expression/cel/value-view.ts';
import { apiKeyDefaults } from '../../model/defaults.ts';
import type { ApiKeyConfig } from '../../model/middleware/api-key-options.ts';
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { LocalReply, LonePhases, MiddlewarePhases } from '../exchange/phase.ts';
import { sendableText } from '../fields/field-lines.ts';
import { compileKeySources, type KeyCarrier } from './api-key/key-sources.ts';
import type { DryRun, DryRunResult } from './dry-run.ts';
import { protectedHeaders } from './protected-headers.ts';
import { rejection } from './rejection.ts';

export interface ApiKey extends MiddlewarePhases {
  readonly dryRun: DryRun;
}

const refusal = (message: string): LocalReply => rejection(401, message, ['WWW-Authenticate', 'ApiKey']);

const missing = refusal('missing API key');
const several = refusal('more than one API key');
const wrong = refusal('invalid API key');

/** Builds the middleware. Throws when it has no source of keys. */
export function buildApiKey(config: ApiKeyConfig): ApiKey {
  const sources = compileKeySources(config.sources ?? {});
  const { consumerHeader, forwardKey = apiKeyDefaults.forwardKey } = config;
  const claimed = consumerHeader === undefined ? undefined : protectedHeaders([consumerHeader]);

  /** Returns the consumer, or the refusal. */
  const decide = (request: KeyCarrier, consumers: ConsumerDirectory): ConsumerFacts | LocalReply => {
    let key: string | undefined;
    for (const source of sources) {
      for (const each of source.read(request)) {
        if (key !== undefined && each !== key) return several;
        key = each;
      }
    }
    if (key === undefined) return missing;
    return consumers.ofKey(key) ?? wrong;
  };

  const alone: LonePhases = {
    onRequest(exchange) {
      const { request } = exchange;
      const decided = decide(request, exchange.consumers);
      const isRefused = 'status' in decided;
      // Logs that stand around it, and records, get none of a refused request either.
      if (!forwardKey || isRefused) for (const source of sources) source.remove(exchange);
      if (isRefused) return decided;
      claimed?.strip(exchange);
      if (consumerHeader !== undefined) exchange.setRequestField(consumerHeader, sendableText(decided.name));
      request.consumer = decided;
      return undefined;
    },
    onSkip: (exchange) => claimed?.stripClientHeaders(exchange),
  };
  return {
    alone,
    ...alone,
    dryRun(request): DryRunResult {
      const decided = decide(request, request.consumers);
      if ('status' in decided) return { answers: decided.status };
      const removed = forwardKey ? [] : sources.filter((source) => source.read(request).length > 0);
      const removals = removed.map((source) => source.removal(request));
      const query = removals.find((removal) => 'query' in removal);
      const changes = [
        ...removals.flatMap((removal) => ('query' in removal ? [] : [{ ...removal, append: false }])),
        ...(consumerHeader === undefined ? [] : [{ name: consumerHeader, value: decided.name, append: false }]),
      ];
      return { consumer: decided, changes, ...(query !== undefined && { query: query.query }) };
    },
  };
}
