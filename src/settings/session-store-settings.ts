// Section `sessionStore` of the settings file (contract.md §1.5).
import { type Address, addressKeyOr } from './address.ts';
import { presentSection, readKeys } from './key.ts';
import { integer, text } from './scalar-key.ts';
import type { Section } from './section.ts';

export interface SessionStoreSettings {
  readonly type: 'redis';
  readonly address: Address;
  readonly password?: string | undefined;
  readonly db: number;
}

export const sessionStoreKeys = {
  type: text(
    '`redis`, which remembers sticky sessions ([docs/upstreams.md](upstreams.md)); absent: they stick by hash',
  ),
  redis: presentSection({
    address: addressKeyOr('localhost:6379', 'where it is'),
    password: text('sent with AUTH'),
    db: integer('number of the database', { min: 0, otherwise: 0 }),
  }),
};

export function readSessionStore(section: Section | undefined): SessionStoreSettings | undefined {
  if (!section) return undefined;
  const { type, redis } = readKeys(section, sessionStoreKeys);
  if (type === 'redis') return { type, ...redis };
  if (type !== undefined) section.warn('type', `is unknown: ${JSON.stringify(type)}; there is no session store`);
  return undefined;
}
