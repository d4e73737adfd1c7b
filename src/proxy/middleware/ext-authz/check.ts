// Parts of a request that an authorization service sees, settled when the table is compiled (contract.md §8.5).
import { requestTarget } from '../../../model/canonical-path.ts';
import { extAuthzDefaults } from '../../../model/defaults.ts';
import type { ExtAuthzConfig } from '../../../model/middleware/ext-authz-options.ts';
import type { MiddlewareExchange } from '../../exchange/phase.ts';
import { editedLines } from '../../fields/field-edits.ts';
import { fieldId, identifyName, isOfConnection } from '../../fields/field-name.ts';
import { compileNamePatterns, type NameTest } from '../name-pattern.ts';
import { compileRequestTemplate, type RequestTemplate } from '../request-template.ts';

export interface Check {
  readonly destinationId: string;
  readonly path: string;
  readonly includeBody: boolean;
  readonly copyToUpstream: NameTest;
  readonly copyToClient: NameTest;
  readonly deniedToClient: NameTest;
  /** Lower-case names and byte strings, in turn. */
  headers(exchange: MiddlewareExchange): string[];
}

const usualFour = ['location', 'set-cookie', 'www-authenticate', 'content-type'];

export function compileCheck(config: ExtAuthzConfig, protocol: 'sluice' | 'envoy'): Check {
  const { onCheck, onAllow, onDeny, path = '' } = config;
  const forwarded = onCheck?.forwardHeaders;
  const wanted = new Set(forwarded?.map((name) => name.toLowerCase()));
  const all = forwarded === undefined && protocol === 'envoy';
  const injected = (onCheck?.injectHeaders ?? []).map(({ key, value }): [string, RequestTemplate] => [
    key.toLowerCase(),
    compileRequestTemplate(value),
  ]);
  const replaced = new Set(injected.map(([name]) => name));
  return {
    destinationId: config.destinationId,
    path: requestTarget(path),
    includeBody: config.includeBody ?? extAuthzDefaults.includeBody,
    copyToUpstream: compileNamePatterns(onAllow?.copyToUpstream ?? []),
    copyToClient: compileNamePatterns(onAllow?.copyToClient ?? []),
    deniedToClient: compileNamePatterns([...usualFour, ...(onDeny?.copyToClient ?? [])]),
    headers({ request }) {
      const headers: string[] = [];
      for (const [lower, , value] of editedLines(request.lines, request.edits)) {
        if ((all || wanted.has(lower)) && !replaced.has(lower) && mayTravel(lower)) headers.push(lower, value);
      }
      for (const [name, template] of injected) if (mayTravel(name)) headers.push(name, template.fill(request));
      return headers;
    },
  };
}

/** The check has a host, a length and connections of its own. */
const mayTravel = (lowerName: string): boolean => {
  const id = identifyName(lowerName);
  return id !== fieldId.host && !isOfConnection(id);
};
