// The caller as the API sees it.
import { type Role, roles } from '../api-role.ts';
import { list, oneOf, text } from '../json-type.ts';
import { Component, Required } from '../property.ts';

/** Rights that tell operations apart. */
export const shownRights = ['read', 'write', 'administer', 'follow'] as const;

@Component('The caller.')
export class WhoAmI {
  @Required(text, 'Name of the API key; empty without keys.')
  readonly name!: string;

  @Required(oneOf(roles), 'Role of the API key; admin without keys.')
  readonly role!: Role;

  @Required(
    list(oneOf(shownRights)),
    '`read` resources, `write` them and make them live, `administer` the cluster and see values of secrets, ' +
      '`follow` activations as a proxy.',
  )
  readonly may!: readonly (typeof shownRights)[number][];
}
