// A snapshot: a captured configuration (contract.md §2.10). A body that creates one has only a name.
import { configClasses } from './config-classes.ts';
import { Flag, Labels, ListOf, Name, Nested, Owner, Text, Timestamp } from './field.ts';
import { optionalKinds, writtenKinds } from './kinds.ts';
import type { Configuration } from './proxy-config.ts';

/** A list of each kind. */
class SnapshotContent {}

for (const kind of writtenKinds) {
  const description = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}, ascending by id.`;
  const required = !optionalKinds.some((each) => each === kind);
  const unlimited = { required, lengthMax: Number.POSITIVE_INFINITY };
  ListOf(
    configClasses[kind],
    required ? description : `${description} Absent: none.`,
    unlimited,
  )(SnapshotContent.prototype, kind);
}

export class Snapshot {
  @Text('Identity of the snapshot, assigned when it is created.', { readOnly: true })
  readonly id!: string;

  @Name()
  readonly name!: string;

  @Owner()
  readonly owner?: string;

  @Labels()
  readonly labels?: Readonly<Record<string, string>>;

  @Timestamp('When it was captured, RFC 3339 UTC.', { readOnly: true, example: '2026-03-30T14:22:01.123Z' })
  readonly createdAt!: string;

  @Nested(SnapshotContent, 'What was captured, with secret references or with their values.', { readOnly: true })
  readonly snapshot!: Configuration;
}

export class SnapshotSummary {
  @Text('Identity of the snapshot.', { required: true })
  readonly id!: string;

  @Name()
  readonly name!: string;

  @Owner()
  readonly owner?: string;

  @Labels()
  readonly labels?: Readonly<Record<string, string>>;

  @Timestamp('When it was captured, RFC 3339 UTC.', { required: true, example: '2026-03-30T14:22:01.123Z' })
  readonly createdAt!: string;

  @Flag('Whether proxies run it. At most one snapshot is active.', { required: true })
  readonly active!: boolean;

  @Timestamp('It stops being active then unless it is confirmed. Absent when it waits for no confirmation.', {
    example: '2026-03-30T14:23:01.123Z',
  })
  readonly confirmBy?: string;
}
