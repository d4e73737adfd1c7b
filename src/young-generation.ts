// The young generation of V8's heaps. What is loaded while the program starts lives as long as the process, and V8
// takes that for a reason to let the young generation of each thread grow to many times its size, which it never gives
// back: ten megabytes a thread. Flags are part of the key of the compile cache, so this has to stand before it.
import { setFlagsFromString } from 'node:v8';

/**
 * Each thread collects its own. Of what requests leave behind next to nothing lives on: there is no work to share, and where
 * the other threads have to wait for a processor, everybody who is served by this one waits for them.
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
