// The checkers' own notion of a quorum: they must not trust the code they check.
import type { Config, MemberId } from '../../core/types.ts';

/** A majority of each half that has members. */
export function isQuorum(
  { voters, outgoing }: Pick<Config, 'voters' | 'outgoing'>,
  has: (id: MemberId) => boolean,
): boolean {
  const halves = [voters, outgoing].filter((half) => half.length > 0);
  return halves.length > 0 && halves.every((half) => 2 * half.filter(has).length > half.length);
}
