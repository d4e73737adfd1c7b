// Chance as a parameter: used for election spread and campaign nonces, and by the simulator for everything.

export interface Rng {
  /** Uniform integer in [0, n). */
  below(n: number): number;
}

/** A small fast generator (splitmix32): equal seeds give equal sequences on every platform. */
export function seededRng(seed: number): Rng {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  return { below: (n) => Math.floor((next() / 0x1_0000_0000) * n) };
}
