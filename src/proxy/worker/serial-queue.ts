// Queue of work that is done one thing after the other: what changes the listeners or the members of a set waits for
// what does so already.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that came before is over, however it ended. Gives what `work` gives. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
