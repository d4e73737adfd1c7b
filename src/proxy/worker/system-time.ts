// The clock that every thread of the process reads alike: `performance.now()` starts anew in each.

/** Milliseconds since some time before the process; never steps. */
export function systemMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
