// Sections of a listener: the hosts of one port shared out among them, so that routes are bound to some hosts of it
// (contract.md §2.2, §6.3).
import { ListOf, SectionName } from './field.ts';
import type { Problem } from './problem.ts';
import { hostPattern } from './scalar.ts';

export class ListenerSection {
  @SectionName('Name of the section, unique within the listener. `listenerIds` name it as `<listener>/<name>`.', {
    required: true,
    example: 'shop',
  })
  readonly name!: string;

  @ListOf(hostPattern, 'Host names without port; `*.suffix` and `*` are understood. Empty: any.', {
    default: [],
    example: ['*.shop.example'],
  })
  readonly hostnames?: readonly string[];
}

/** Returns a problem for each name that is there twice, and for each host that an earlier section has. What is no text has a problem already. */
export function repeatedSections(sections: readonly ListenerSection[]): Problem[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  const owners = new Map<string, number>();
  for (const [at, { name, hostnames = [] }] of sections.entries()) {
    if (names.has(name) && typeof name === 'string')
      problems.push({ pointer: `/sections/${at}/name`, message: 'is the name of another section' });
    names.add(name);
    const hosts = hostnames.length === 0 ? ['*'] : hostnames;
    for (const [place, host] of hosts.entries()) {
      if (typeof host !== 'string') continue;
      const key = hostKey(host);
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, at);
      else if (owner !== at) problems.push(takenHost(at, place, hostnames, sections[owner]?.name ?? ''));
    }
  }
  return problems;
}

function takenHost(at: number, place: number, hostnames: readonly string[], owner: string): Problem {
  const message = `section "${owner}" has this host: a host belongs to one section`;
  if (hostnames.length > 0) return { pointer: `/sections/${at}/hostnames/${place}`, message };
  return { pointer: `/sections/${at}/hostnames`, message: `must not be empty: section "${owner}" is for any host` };
}

/** Returns the one spelling of a pattern, as hosts of requests are compared: lower case, no brackets, no last dot. */
function hostKey(host: string): string {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return (bare.length > 1 && bare.endsWith('.') ? bare.slice(0, -1) : bare).toLowerCase();
}
