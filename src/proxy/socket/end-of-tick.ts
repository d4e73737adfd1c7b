// End-of-tick flush. One tick brings requests and responses of many connections: a write for each of them in between
// would make the kernel's code and ours evict each other from the caches, and wake each reader separately.

export interface Flushable {
  flush(): void;
}

/** Sockets that wait for the end of the tick. */
let waiting: Flushable[] = [];
/** Empty list that replaces `waiting` while that one is flushed. */
let spare: Flushable[] = [];

/** Schedules one flush at the end of the tick, after all reads have been handled. */
export function flushAtEndOfTick(one: Flushable): void {
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
