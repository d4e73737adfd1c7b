// Snapshots with their content, secrets without theirs, and the configurations that a node has.
import { recordProperty } from '../class-schema.ts';
import { configClasses } from '../config-classes.ts';
import { type JsonType, limited, list, map, nullable, object, text, time } from '../json-type.ts';
import { type ConfigKind, configKinds, optionalKinds } from '../kinds.ts';
import type { Problem } from '../problem.ts';
import { Component, Optional, Required } from '../property.ts';
import type { Configuration } from '../proxy-config.ts';

const id = limited(text, { description: 'Assigned by the server.', example: '0b0f8a9e-3c53-4a39-9f0b-6d1f5f3c2a11' });
const name = limited(text, { minLength: 1, description: 'Unique within the kind.', example: 'release-42' });
const owner = limited(text, { minLength: 1, description: 'Team or program that maintains it.' });
const labels = map(text, { maxProperties: 32, description: 'Marks to find it by.' });
const createdAt = limited(time, { description: 'Time of creation, UTC.' });

@Component('The kinds that a proxy runs.', { as: 'Configuration' })
class ConfigurationLists {}

const isOptional = (kind: ConfigKind): boolean => optionalKinds.some((each) => each === kind);

for (const kind of configKinds) {
  const description = `All ${kind}, ascending by id${isOptional(kind) ? '; absent where there are none' : ''}.`;
  const { schema } = list(object<object>(configClasses[kind]), { description });
  recordProperty(ConfigurationLists, { name: kind, isRequired: !isOptional(kind), schema });
}

const configuration: JsonType<Configuration> = { schema: object(ConfigurationLists).schema };

/** Name of what has an owner and labels. */
class OwnedName {
  @Required(name)
  readonly name!: string;

  @Optional(owner)
  readonly owner?: string;

  @Optional(labels)
  readonly labels?: Readonly<Record<string, string>>;
}

@Component('A secret without its value.')
export class SecretSummary extends OwnedName {
  @Required(id)
  readonly id!: string;

  @Optional(text, 'Only in lists, for `secrets=resolved`.')
  readonly value?: string;

  @Optional(nullable(time), 'Only in lists, for `changedAt=true`: when its value was set; null where it was not noted.')
  readonly changedAt?: string | null;
}

@Component('What a snapshot is created from, beside the staged configuration.')
export class SnapshotRequest extends OwnedName {}

@Component('A snapshot with its content.')
export class FullSnapshot extends OwnedName {
  @Required(id)
  readonly id!: string;

  @Required(createdAt)
  readonly createdAt!: string;

  @Required(configuration, 'What was captured.')
  readonly snapshot!: Configuration;
}

@Component('Something that will not work as written, and does not keep the rest from being served.')
class SnapshotWarning {
  @Required(text, 'Where: a JSON pointer whose second step is the id of the entity, `/<kind>/<id>/<field>…`.', {
    example: '/routes/shop/forward/destinations/0/destinationId',
  })
  readonly pointer!: string;

  @Required(text, 'What it is, for a person.')
  readonly message!: string;
}

export const snapshotWarnings: JsonType<readonly Problem[]> = list(object(SnapshotWarning));

@Component('A new snapshot, and what is doubtful about it.')
export class CreatedSnapshot extends FullSnapshot {
  @Required(
    snapshotWarnings,
    'Dangling references, listeners that ask for the same port, certificates that cannot be used. Each place once.',
  )
  readonly warnings!: readonly Problem[];
}

export class ActiveSnapshot {
  @Required(id)
  readonly id!: string;

  @Required(name)
  readonly name!: string;

  @Required(createdAt)
  readonly createdAt!: string;
}

@Component('The live configuration, which snapshot it is, and the staged one.')
export class DebugConfig extends ConfigurationLists {
  @Required(nullable(object(ActiveSnapshot)), 'The active snapshot; null when there is none.')
  readonly snapshot!: ActiveSnapshot | null;

  @Required(configuration, 'As stored, references unresolved.')
  readonly staged!: Configuration;
}
