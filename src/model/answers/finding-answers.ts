// Findings: what is wrong with a configuration for certain.
import { count, either, integer, list, nullable, object, oneOf, open, record, text } from '../json-type.ts';
import { Component, Required } from '../property.ts';
import { type Severity, severities } from '../severity.ts';

/** Request as `POST /explain` takes it. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the listener; absent where the configuration has none. */
  readonly listener?: string;
  readonly sni?: string;
}

const witness = open<Witness>({ additionalProperties: true });

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
    nullable(either(witness, list(witness))),
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
