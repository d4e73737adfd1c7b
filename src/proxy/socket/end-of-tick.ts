// What leaves at the end of the event loop's turn. A turn brings requests and responses of many connections: writing for
// each of them in between makes the system's code and ours push each other out of the caches, and wakes each reader by
// itself.

export interface Flushable {
  flush(): void;
}

/** Those that wait for the end of the turn. */
let waiting: Flushable[] = [];
/** Empty; takes the place of `waiting` while that is gone through. */
let spare: Flushable[] = [];

/** It is flushed once, after everything that was read in this turn has been looked at. */
export function flushLater(one: Flushable): void {
  if (waiting.length === 0) setImmediate(flushAll);
  waiting.push(one);
}

function flushAll(): void {
  const leaving = waiting;
  waiting = spare;
  for (let i = 0; i < leaving.length; i++) leaving[i]?.flush();
  leaving.length = 0;
  spare = leaving;
}
