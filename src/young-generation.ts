// Young generation of V8's heaps. Objects of the start live as long as the process, which makes V8 grow the young
// generation of each thread to many times its size and never shrink it: ten megabytes a thread. Flags are part of the key
// of the compile cache, so they are set before it is enabled.
import { setFlagsFromString } from 'node:v8';

/**
 * Turns off V8's helper threads for scavenges: each thread collects its own young generation. Next to none of the garbage of
 * requests survives, so there is no work to share, and a helper that waits for a processor delays every request of the
 * thread.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/** Keeps the young generation at its initial size. */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets the young generation grow with the load. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
