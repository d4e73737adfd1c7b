// Values by the name of a credential. A name that two consumers give has no value.

export class Unambiguous<T> {
  readonly #found = new Map<string, T | undefined>();
  /** Id of the consumer that had a name first. */
  readonly #first = new Map<string, string>();
  #all: readonly T[] | undefined;

  get size(): number {
    return this.#found.size;
  }

  get all(): readonly T[] {
    this.#all ??= [...this.#found.values()].filter((each) => each !== undefined);
    return this.#all;
  }

  get(name: string): T | undefined {
    return this.#found.get(name);
  }

  /** Returns the problem where the name has been given before. */
  add(name: string, value: T, id: string, word: string): string | undefined {
    const first = this.#first.get(name);
    this.#found.set(name, first === undefined ? value : undefined);
    if (first !== undefined) return `has the ${word} of consumer "${first}"`;
    this.#first.set(name, id);
    return undefined;
  }
}
