// Entries of a table that may serve a recorded request, in order: those that need what is not recorded, and behind them the
// one that certainly matches.
import type { RoutingTable } from '../match/routing-table.ts';
import type { ReplayEntry } from './replay-entry.ts';
import type { ReplayedRequest } from './replayed-request.ts';

export interface PossibleWinner {
  /** Undefined: none, `no_route`. */
  readonly entry: ReplayEntry | undefined;
  /** Deciding value that is not recorded; undefined for the last, which serves the request if none before it does. */
  readonly needs: string | undefined;
}

/** Entries that are tried; a request of which more cannot be decided has no last. */
const possibleMax = 16;

export function possibleWinners(table: RoutingTable, request: ReplayedRequest): readonly PossibleWinner[] {
  const found: PossibleWinner[] = [];
  while (found.length < possibleMax) {
    const entry = table.match(request) as ReplayEntry | undefined;
    const needs = entry?.needs?.(request);
    found.push({ entry, needs });
    if (entry === undefined || needs === undefined) return found;
    request.passedOver.add(entry);
  }
  return found;
}
