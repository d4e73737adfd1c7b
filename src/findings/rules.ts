// Rules of findings, one line for each.
import type { RawFinding } from './finding.ts';
import { ambiguousOrders } from './rules/ambiguous-order.ts';
import { certificatesThatExpire, hostsWithoutCertificate } from './rules/certificates.ts';
import { alwaysMet, neverMet } from './rules/constant-conditions.ts';
import { missingConsumers } from './rules/no-consumer.ts';
import { overtakenRedirects } from './rules/overtaken-redirect.ts';
import { protectedInCleartext } from './rules/protected-in-cleartext.ts';
import { redirectLoops } from './rules/redirect-loop.ts';
import { contradictingTimeouts, retriesOfNotIdempotent } from './rules/retries-and-timeouts.ts';
import { rewritesThatLosePaths } from './rules/rewrite-loses-path.ts';
import { selfForwards } from './rules/self-forward.ts';
import { shadowedEndpoints } from './rules/shadowed-endpoint.ts';
import { unprotectedSiblings } from './rules/unprotected-sibling.ts';
import { unreachableRoutes } from './rules/unreachable-route.ts';
import { unusedEntities } from './rules/unused.ts';
import type { Subject } from './subject.ts';

/** Finds all of one kind, yielding between entries. A rule that cannot decide says nothing. */
export type Rule = (subject: Subject) => Generator<void, readonly RawFinding[]>;

export const rules: Readonly<Record<string, Rule>> = {
  'unreachable-route': unreachableRoutes,
  'ambiguous-order': ambiguousOrders,
  'unprotected-sibling': unprotectedSiblings,
  'condition-never': neverMet,
  'condition-always': alwaysMet,
  'redirect-loop': redirectLoops,
  'overtaken-redirect': overtakenRedirects,
  'rewrite-loses-path': rewritesThatLosePaths,
  'host-without-certificate': hostsWithoutCertificate,
  'certificate-expires': certificatesThatExpire,
  'protected-in-cleartext': protectedInCleartext,
  'no-consumer': missingConsumers,
  'shadowed-endpoint': shadowedEndpoints,
  'self-forward': selfForwards,
  'retry-not-idempotent': retriesOfNotIdempotent,
  'timeouts-contradict': contradictingTimeouts,
  unused: unusedEntities,
};
