// The young generation of V8's heaps. What is loaded while the program starts lives as long as the process, and V8
// takes that for a reason to let the young generation of each thread grow to many times its size, which it never gives
// back: ten megabytes a thread. Flags are part of the key of the compile cache, so this has to stand before it.
import { setFlagsFromString } from 'node:v8';

/**
 * Turns off V8's helper threads for scavenges: each thread collects its own young generation. Next to none of the garbage of
 * requests survives, so there is no work to share, and a helper that waits for a processor delays every request of the
 * thread.
 */
export function collectYoungAlone(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/** Keeps it as small as it begins. */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets it grow with what is served. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
