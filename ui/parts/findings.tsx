// Findings: what is wrong with a configuration for certain, each with a request that shows it.
import type { Finding } from '../lib/types.ts';
import { Badge, PageLink, type Tone } from './basics.tsx';

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warning: 'warn', info: 'plain' };

const shownMax = 100;

/** Link to explain with the request of a finding; undefined where there is none that fits into an address. */
function askedBy({ witness }: Finding): Record<string, string> | undefined {
  const first = Object([witness].flat()[0]) as { method?: string; url?: string; headers?: Record<string, string> };
  if (first.url === undefined || first.method === undefined) return undefined;
  if (Object.keys(first.headers ?? {}).length > 0) return undefined;
  return { method: first.method, url: first.url };
}

export function FindingsList({ findings, name }: { readonly findings: readonly Finding[]; readonly name: string }) {
  return (
    <ul class="changes" aria-label={name}>
      {findings.slice(0, shownMax).map((finding) => {
        const asked = askedBy(finding);
        return (
          <li key={`${finding.rule} ${finding.kind} ${finding.id} ${finding.pointer}`}>
            <div>
              <Badge tone={tones[finding.severity] ?? 'plain'}>{finding.severity}</Badge> <code>{finding.rule}</code>{' '}
              {finding.message}
            </div>
            {asked !== undefined && (
              <PageLink to="explain" query={asked}>
                Explain
              </PageLink>
            )}
          </li>
        );
      })}
      {findings.length > shownMax && <li class="about">and {findings.length - shownMax} more</li>}
    </ul>
  );
}
