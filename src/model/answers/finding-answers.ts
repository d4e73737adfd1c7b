// Findings: what is wrong with a configuration for certain.
import { count, either, integer, list, map, nullable, object, oneOf, record, text } from '../json-type.ts';
import { Component, Optional, Required } from '../property.ts';
import { type Severity, severities } from '../severity.ts';

@Component('A request, as `POST /explain` takes it.')
export class Witness {
  @Required(text, 'Method.')
  readonly method!: string;

  @Required(text, 'Path and query, or an absolute URL.')
  readonly url!: string;

  @Required(map(text), 'Values by name.')
  readonly headers!: Readonly<Record<string, string>>;

  @Optional(text, 'Id of the listener; absent where the configuration has none.')
  readonly listener?: string;

  @Optional(text, 'Server name of the TLS handshake.')
  readonly sni?: string;
}

export class FoundPlace {
  @Required(text, 'Kind of the entity.')
  readonly kind!: string;

  @Required(text, 'Its id.')
  readonly id!: string;

  @Required(text, 'Its name.')
  readonly name!: string;

  @Required(text, 'JSON pointer within the entity; empty for the whole.')
  readonly pointer!: string;
}

@Component('One thing that is wrong for certain.')
export class Finding extends FoundPlace {
  @Required(text, 'Name of the rule, such as `unreachable-route`.')
  readonly rule!: string;

  @Required(oneOf(severities), 'How grave it is.')
  readonly severity!: Severity;

  @Required(text, 'What is wrong, for a person.')
  readonly message!: string;

  @Required(
    nullable(either(object(Witness), list(object(Witness)))),
    'A request that shows it, as `POST /explain` takes it; two for `rewrite-loses-path`. Null where there is none, or where it would hold a secret.',
  )
  readonly witness!: Witness | readonly Witness[] | null;

  @Required(list(object(FoundPlace)), 'Entities that are the reason.')
  readonly because!: readonly FoundPlace[];
}

@Component('What is wrong with a configuration.')
export class Findings {
  @Required(text, '`staged`, `active` or the id of the snapshot, as it was asked for.')
  readonly of!: string;

  @Required(integer, 'Log index of the state that was read.')
  readonly index!: number;

  @Required(list(object(Finding)), 'In the order of the rules.')
  readonly findings!: readonly Finding[];

  @Required(
    record(severities, count, (severity) => `Those of severity ${severity}.`),
    'Findings by severity.',
  )
  readonly counts!: Readonly<Record<Severity, number>>;

  @Required(count, 'Milliseconds that it took.')
  readonly tookMs!: number;
}
