// Bounds of messages between proxies and nodes.
import { idLengthMax } from './id.ts';

/** Number of latency buckets, each 2^(1/4) wider than the one before, from 0.1 ms; the last is open. */
export const latencyBuckets = 80;

/** Limits of a message: entries of a list, characters of a text. */
export const messageLimits = {
  problems: 100,
  listeners: 1_000,
  windows: 16,
  token: 512,
  boot: 64,
  sha256: 64,
  id: idLengthMax,
  /** Prose: what is longer is cut. */
  prose: 1_000,
} as const;
