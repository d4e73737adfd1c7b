// API keys as they are listed and made (contract.md §3.11).
import { type Role, roles } from '../api-role.ts';
import { limited, nullable, oneOf, text, time } from '../json-type.ts';
import { keyNameMax } from '../managed-keys.ts';
import { Component, Required } from '../property.ts';

const name = 'Name of the holder in the audit log and in messages.';
const role = 'Role of the holder.';

@Component('Holder of an API key to be made.')
export class NewApiKey {
  @Required(limited(text, { minLength: 1, maxLength: keyNameMax }), name, { example: 'deploy' })
  readonly name!: string;

  @Required(oneOf(roles), role, { example: 'editor' })
  readonly role!: Role;
}

export const keySources = ['settings', 'cluster'] as const;

@Component('An API key, without the key itself.', { as: 'ApiKey' })
export class ListedApiKey {
  @Required(nullable(text), 'Id; null for a key of the settings.')
  readonly id!: string | null;

  @Required(text, name)
  readonly name!: string;

  @Required(oneOf(roles), role)
  readonly role!: Role;

  @Required(oneOf(keySources), '`settings` of this node, or the `cluster`.')
  readonly source!: (typeof keySources)[number];

  @Required(nullable(time), 'Null for a key of the settings.')
  readonly createdAt!: string | null;

  @Required(nullable(text), 'Name of the key that made it; null for a key of the settings.')
  readonly createdBy!: string | null;

  @Required(nullable(time), 'Last use as this node has seen it since its start; null: not since.')
  readonly lastUsedAt!: string | null;
}

@Component('An API key as it is made. No other answer shows the key.')
export class MadeApiKey extends ListedApiKey {
  @Required(text, 'The key: `Authorization: Bearer <key>`.')
  readonly key!: string;
}
