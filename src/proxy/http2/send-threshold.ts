// Silly window avoidance on the sending side (RFC 1122 §4.2.3.4, for the windows of RFC 9113 §5.2). A frame cut to the few
// bytes that a window has left comes back as a window of as few bytes from a client that returns what each frame took, and
// small frames then circulate until the end of the body. So a frame that a window cuts waits until a sensible part of
// the window is free, or it has waited in vain.
import { frameBytesMax } from './frame.ts';
import { guards } from './guards.ts';

/** Milliseconds between two looks at frames that wait; after the second in vain a frame leaves as small as it is. */
export const heldLookMs = 50;

/** Part of the largest window that has to be free: any client that returns an earlier part than the last eighth is waited for. */
const windowShare = 8;

export class SendThreshold {
  #bytes = frameBytesMax;

  /**
   * Bytes of a window from which a frame is sent that the window cuts. `windowPeak`: the most that the window has held, for
   * more than that never becomes free.
   */
  of(windowPeak: number): number {
    return Math.min(
      this.#bytes,
      Math.max(Math.floor(windowPeak / windowShare), Math.min(windowPeak, guards.crumbBytes)),
    );
  }

  /** A window has become wider while a frame waited for that. */
  onWidened(): void {
    this.#bytes = Math.min(frameBytesMax, this.#bytes * 2);
  }

  /** A frame waited and the window did not grow: the client may be one that returns windows when they are empty. */
  onWaitedInVain(): void {
    this.#bytes = Math.max(guards.crumbBytes, this.#bytes / 4);
  }
}
