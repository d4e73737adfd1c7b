// Fields that every kind of resource begins with.
import { Id, Labels, Name, Owner } from './field.ts';

export class Entity {
  // Absent only in a body that creates; everywhere else the id is there.
  @Id()
  readonly id!: string;

  @Name()
  readonly name!: string;

  @Owner()
  readonly owner?: string;

  @Labels()
  readonly labels?: Readonly<Record<string, string>>;
}
