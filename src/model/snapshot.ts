// A snapshot: a captured configuration (contract.md §2.10). A body that creates one has only a name.
import { Destination } from './destination.ts';
import { Flag, ListOf, Name, Nested, Text, Timestamp } from './field.ts';
import { Group } from './group.ts';
import { Listener } from './listener.ts';
import { Middleware } from './middleware.ts';
import { Route } from './route.ts';

const unlimited = { required: true, lengthMax: Number.POSITIVE_INFINITY } as const;

export class SnapshotContent {
  @ListOf(Listener, 'Listeners, ascending by id.', unlimited)
  readonly listeners!: readonly Listener[];

  @ListOf(Route, 'Routes, ascending by id.', unlimited)
  readonly routes!: readonly Route[];

  @ListOf(Group, 'Groups, ascending by id.', unlimited)
  readonly groups!: readonly Group[];

  @ListOf(Destination, 'Destinations, ascending by id.', unlimited)
  readonly destinations!: readonly Destination[];

  @ListOf(Middleware, 'Middlewares, ascending by id.', unlimited)
  readonly middlewares!: readonly Middleware[];
}

export class Snapshot {
  @Text('Identity of the snapshot, assigned when it is created.', { readOnly: true })
  readonly id!: string;

  @Name()
  readonly name!: string;

  @Timestamp('When it was captured, RFC 3339 UTC.', { readOnly: true, example: '2026-03-30T14:22:01.123Z' })
  readonly createdAt!: string;

  @Nested(SnapshotContent, 'What was captured, secret references resolved.', { readOnly: true })
  readonly snapshot!: SnapshotContent;
}

export class SnapshotSummary {
  @Text('Identity of the snapshot.', { required: true })
  readonly id!: string;

  @Name()
  readonly name!: string;

  @Timestamp('When it was captured, RFC 3339 UTC.', { required: true, example: '2026-03-30T14:22:01.123Z' })
  readonly createdAt!: string;

  @Flag('Whether proxies run it. At most one snapshot is active.', { required: true })
  readonly active!: boolean;

  @Timestamp('It stops being active then unless it is confirmed. Absent when it waits for no confirmation.', {
    example: '2026-03-30T14:23:01.123Z',
  })
  readonly confirmBy?: string;
}
