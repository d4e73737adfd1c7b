// Silly window avoidance on the sending side (RFC 1122 §4.2.3.4, for the windows of RFC 9113 §5.2). A client that
// returns the bytes of each frame answers a small frame with a small window, and small frames then circulate until
// the end of the body. A frame that a window cuts therefore waits until a sensible part of the window is free, or its
// wait was in vain.
import { frameBytesMax } from './frame.ts';
import { guards } from './guards.ts';

/**
 * Milliseconds between two looks at frames that wait; after the second in vain a frame leaves at its present size.
 */
export const heldLookMs = 50;

/**
 * Share of the largest window that has to be free: a client that returns an earlier part than the last eighth is
 * waited for.
 */
const windowShare = 8;

export class SendThreshold {
  #bytes = frameBytesMax;

  /**
   * Returns the bytes of a window from which a cut frame is sent. `windowPeak`: the largest value of the window, for
   * more than that never becomes free.
   */
  of(windowPeak: number): number {
    return Math.min(
      this.#bytes,
      Math.max(Math.floor(windowPeak / windowShare), Math.min(windowPeak, guards.smallFrameBytes)),
    );
  }

  /** Called when a window has become wider while a frame waited for that. */
  onWidened(): void {
    this.#bytes = Math.min(frameBytesMax, this.#bytes * 2);
  }

  /**
   * Called when a frame waited and the window did not grow: the client may return windows only when they are empty.
   */
  onWaitedInVain(): void {
    this.#bytes = Math.max(guards.smallFrameBytes, this.#bytes / 4);
  }
}
