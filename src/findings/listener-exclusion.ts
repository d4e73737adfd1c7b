// Listeners that hand no request to an entry: none of them has the scheme or the port, or their sections have other hosts.
import type { Listener } from '../model/listener.ts';
import { sectionBinding } from '../model/listener-binding.ts';
import { schemeOf } from '../proxy/explain/explained-listener.ts';
import type { RankedEntry } from '../proxy/match/route-entry.ts';
import { type HostPattern, hostMatches, parseHostPattern } from '../proxy/target/host.ts';
import type { Subject } from './subject.ts';

export interface Exclusion {
  /** Pointer within the route. */
  readonly pointer: string;
  readonly why: string;
}

/** Undefined: a listener may hand requests to the entry, or that cannot be told. */
export function exclusionOf(subject: Subject, entry: RankedEntry): Exclusion | undefined {
  const { scheme, port } = entry.route.match ?? {};
  if (entry.bindings?.length === 0) return undefined;
  if (scheme !== undefined || port !== undefined) {
    const listeners = subject.listenersOf(entry);
    if (listeners.length === 0) return undefined;
    const ofScheme = listeners.filter((each) => scheme === undefined || schemeOf(each) === scheme);
    if (ofScheme.length === 0)
      return { pointer: '/match/scheme', why: `asks for ${scheme}, and none of its listeners has it` };
    if (port !== undefined && ofScheme.every((each) => each.port !== port))
      return { pointer: '/match/port', why: `asks for port ${port}, and none of its listeners has it` };
  }
  return hostsAreExcluded(subject, entry)
    ? { pointer: '/match/hostnames', why: 'asks for hosts that the sections of its listeners exclude' }
    : undefined;
}

function hostsAreExcluded(subject: Subject, entry: RankedEntry): boolean {
  const listeners = subject.listenersOf(entry);
  if (entry.hosts.length === 0 || listeners.length === 0) return false;
  return entry.hosts.every((host) =>
    host.kind === 'exact'
      ? !listeners.some((listener) => subject.hands(listener, host.text, entry))
      : !listeners.some((listener) => sectionsOf(entry, listener).some((pattern) => overlap(host, pattern))),
  );
}

const anyHost: HostPattern = { kind: 'any', text: '*' };

/** Hosts of the sections of a listener that the entry is bound to. */
function sectionsOf({ bindings }: RankedEntry, { id, sections = [] }: Listener): readonly HostPattern[] {
  if (sections.length === 0) return [anyHost];
  const isWhole = bindings === undefined || bindings.includes(id);
  const chosen = sections.filter(({ name }) => isWhole || bindings.includes(sectionBinding(id, name)));
  return chosen.flatMap(({ hostnames = [] }) => (hostnames.length === 0 ? [anyHost] : hostnames.map(parseHostPattern)));
}

const overlap = (one: HostPattern, other: HostPattern): boolean =>
  one.kind === 'any' || other.kind === 'any' || hostMatches(one, sample(other)) || hostMatches(other, sample(one));

const sample = ({ kind, text }: HostPattern): string => (kind === 'suffix' ? `a${text}` : text);
