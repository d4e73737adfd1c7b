// Fields that every entity of Kong has.
import type { Fields } from '../fields.ts';

export const ofKong = 'is of Kong, not of its traffic';

/** Keys of every entity that say nothing of requests. */
export function withoutEffect(fields: Fields): void {
  for (const key of ['id', 'tags', 'created_at', 'updated_at', 'ws_id']) fields.approximated(key, ofKong);
}
