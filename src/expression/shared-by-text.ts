// Cache of things compiled from text: each is made once and shared while a reference to it exists, then forgotten.

export class SharedByText<T extends object> {
  readonly #alive = new Map<string, WeakRef<T>>();
  readonly #forgotten = new FinalizationRegistry<string>((text) => {
    if (this.#alive.get(text)?.deref() === undefined) this.#alive.delete(text);
  });

  /** The value for `text`; `make` is called when there is none, and may throw. */
  get(text: string, make: () => T): T {
    const known = this.#alive.get(text)?.deref();
    if (known) return known;
    const made = make();
    this.#alive.set(text, new WeakRef(made));
    this.#forgotten.register(made, text);
    return made;
  }
}
