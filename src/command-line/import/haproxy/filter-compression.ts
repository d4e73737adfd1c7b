// Compression of responses of a section of HAProxy.
import type { ImportedMiddleware } from '../intermediate.ts';
import { middleware } from '../shared/common.ts';
import type { Section } from './proxy-section.ts';

export function compression(section: Section, name: string): ImportedMiddleware[] {
  const algorithms = section.one('compression', 'algo');
  const known = (algorithms?.words.slice(1) ?? []).filter((each) => each === 'gzip');
  if (algorithms === undefined) return [];
  if (known.length === 0) {
    section.ledger.notTaken(algorithms, 'of its algorithms gzip alone is known', 'a middleware of type compress');
    return [];
  }
  section.ledger.taken(algorithms);
  const types = section.all('compression', 'type').flatMap((each) => {
    section.ledger.taken(each);
    return each.words.slice(1);
  });
  const offload = section.one('compression', 'offload');
  if (offload !== undefined) section.ledger.taken(offload);
  const block = {
    algorithms: ['gzip'],
    minBytes: 0,
    types: types.length > 0 ? types : ['*/*'],
    ...(offload !== undefined && { upstreamAcceptEncoding: 'strip' }),
  };
  return [middleware(algorithms, `${name}-gzip`, 'compress', block)];
}
