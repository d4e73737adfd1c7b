/** Requests that one difference replays at most. */
export const replayMax = 10_000;
