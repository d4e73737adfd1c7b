// no-consumer: a middleware or a condition needs the consumer of a request, and none is ever found.
import { needsConsumer } from '../../expression/cel/needs-consumer.ts';
import { basicAuthDefaults } from '../../model/defaults.ts';
import type { Middleware } from '../../model/middleware.ts';
import { listOf } from '../../model/proxy-config.ts';
import { type CredentialKind, consumerFinders, findsAny } from '../../proxy/consumers/consumer-finders.ts';
import type { ChainLink, RankedEntry } from '../../proxy/match/route-entry.ts';
import { nameOf, placeIn, placeOf, type RawFinding } from '../finding.ts';
import type { Subject } from '../subject.ts';

type Named = ChainLink & { readonly middleware: Middleware };

export function* missingConsumers(subject: Subject): Generator<void, readonly RawFinding[]> {
  const kinds = new Set<CredentialKind>();
  for (const { credentials = [] } of listOf(subject.configuration, 'consumers')) {
    if (subject.isPause()) yield;
    for (const { type } of credentials) kinds.add(type);
  }
  const found: RawFinding[] = [];
  for (const entry of subject.entries) {
    if (subject.isPause()) yield;
    const cel = entry.route.match?.cel;
    if (cel !== undefined && needsConsumer(cel))
      found.push({
        ...told,
        ...placeOf(entry, '/match/cel'),
        message: `the condition of ${nameOf(entry)} reads the consumer, which is found behind it`,
      });
    if (entry.chain.length > 0) found.push(...inChain(subject, entry, kinds));
  }
  return found;
}

const told = { severity: 'warning', witness: null, because: [] } as const;

function inChain(subject: Subject, entry: RankedEntry, kinds: ReadonlySet<CredentialKind>): readonly RawFinding[] {
  const links = entry.chain.filter((link): link is Named => !link.disabled && link.middleware !== undefined);
  return links.flatMap((link, at): RawFinding[] => {
    const { middleware } = link;
    const isClosed = admitsConsumersAlone(middleware) && !findsAny(middleware.type, kinds);
    const isFound = links.slice(0, at).some((each) => findsAny(each.middleware.type, kinds));
    if (!isClosed && (isFound || !expressionsOf(link).some(needsConsumer))) return [];
    const [name, route] = [`middleware "${middleware.name}"`, nameOf(entry)];
    const message = isClosed
      ? `${name} of ${route} lets no request pass: no consumer has a credential of type ${consumerFinders.get(middleware.type)}`
      : `${name} reads the consumer of requests of ${route}, and no middleware before it finds one`;
    const witness = isClosed ? (subject.servedBy(entry) ?? null) : null;
    const because = [placeIn('middlewares', middleware)];
    return [{ ...told, ...placeOf(entry, '/middlewareIds'), message, witness, because, madeOf: [entry] }];
  });
}

/** Returns whether requests of consumers pass, and no others. */
const admitsConsumersAlone = ({ type, basicAuth }: Middleware): boolean =>
  type === 'apiKey' ||
  (type === 'basicAuth' && basicAuth?.users === undefined && (basicAuth?.consumers ?? basicAuthDefaults.consumers));

/** Expressions over the request. */
function expressionsOf({ middleware, override }: Named): readonly string[] {
  const { inlineAuthz, rateLimit } = middleware;
  const headers = override?.headers ?? middleware.headers;
  return [
    ...(override?.skipWhen ?? []),
    ...(override?.onlyWhen ?? []),
    ...(inlineAuthz?.rules ?? []).map(({ cel }) => cel),
    ...(headers?.requestHeadersToAdd ?? []).flatMap(({ when }) => when ?? []),
    ...[rateLimit?.key, rateLimit?.cost].flatMap((each) => each ?? []),
  ];
}
