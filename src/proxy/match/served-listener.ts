// A listener as requests on it are matched: its sections by host. A request belongs to the section with the most
// specific host and falls through to no other (contract.md §6.3).
import type { ListenerFacts } from '../../expression/cel/value-view.ts';
import { listenerDefaults } from '../../model/defaults.ts';
import type { Listener } from '../../model/listener.ts';
import { sectionBinding } from '../../model/listener-binding.ts';
import type { ServedSection } from '../message/routed-request.ts';
import { parseHostPattern } from '../target/host.ts';
import { HostIndex } from './host-index.ts';

type Described = Pick<Listener, 'id' | 'name' | 'port' | 'sections' | 'maxRequestBodyBytes'>;

export class ServedListener {
  readonly id: string;
  readonly name: string;
  readonly port: number;
  /** Most bytes of a request body, where the route has no limit of its own; 0: none. */
  readonly bodyBytesMax: number;
  /** Section of every host; undefined where hosts decide. */
  readonly whole: ServedSection | undefined;
  readonly #hosts = new HostIndex();
  /** By number of the host pattern. */
  readonly #sections: ServedSection[] = [];
  readonly #none: ServedSection;

  constructor({ id, name, port, sections = [], maxRequestBodyBytes }: Described) {
    this.id = id;
    this.name = name;
    this.port = port;
    this.bodyBytesMax = maxRequestBodyBytes ?? listenerDefaults.maxRequestBodyBytes;
    const facts = (section: string): ListenerFacts => ({ id, name, port: BigInt(port), section });
    this.#none = { listener: facts(''), ofListener: id, ofSection: '', isServed: sections.length === 0 };
    this.whole = sections.length === 0 ? this.#none : undefined;
    for (const section of sections) {
      const { hostnames = [] } = section;
      const ofSection = sectionBinding(id, section.name);
      const served = { listener: facts(section.name), ofListener: id, ofSection, isServed: true };
      for (const pattern of hostnames.length === 0 ? ['*'] : hostnames)
        this.#sections[this.#hosts.numberOf(parseHostPattern(pattern))] ??= served;
    }
  }

  /** Returns the section that a host belongs to: that of the host itself, of its longest suffix, or of any host. */
  sectionOf(host: string): ServedSection {
    return this.whole ?? this.#sections[this.#hosts.mostSpecific(host)] ?? this.#none;
  }
}
