// OpenAPI document, made for its first reader: it needs all operations registered, and takes a tenth of a second that
// would delay the start.

export class OpenApiText {
  #make: () => unknown = () => ({});
  #text: string | undefined;

  get text(): string {
    this.#text ??= JSON.stringify(this.#make());
    return this.#text;
  }

  /** `make` is called once, when the text is first asked for. */
  set(make: () => unknown): void {
    this.#make = make;
    this.#text = undefined;
  }
}
