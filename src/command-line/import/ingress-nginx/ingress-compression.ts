// Compression of the controller: one middleware for the routes of all Ingresses.
import type { ImportedMiddleware } from '../intermediate.ts';
import { middleware } from '../shared/common.ts';
import type { Statement } from '../statement.ts';

/** Types that the controller compresses by itself, with text/html. */
const usualTypes =
  'application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component';

export function compression(
  from: Statement,
  setting: (name: string) => string | undefined,
): readonly ImportedMiddleware[] {
  const [hasGzip, hasBrotli] = [setting('use-gzip') === 'true', setting('enable-brotli') === 'true'];
  if (!hasGzip && !hasBrotli) return [];
  const types = new Set(['text/html', ...(setting('gzip-types') ?? usualTypes).trim().split(/\s+/)]);
  const block = {
    algorithms: [...(hasBrotli ? ['br'] : []), ...(hasGzip ? ['gzip'] : [])],
    minBytes: Number(setting('gzip-min-length') ?? 256),
    types: types.has('*') ? ['*/*'] : [...types],
    levels: { gzip: Number(setting('gzip-level') ?? 1), br: Number(setting('brotli-level') ?? 4) },
  };
  return [middleware(from, 'compress', 'compress', block)];
}
