// OpenAPI document, made for its first reader: it needs all operations registered, and takes a tenth of a second that
// would delay the start.

export class OpenApiText {
  #make: () => unknown = () => ({});
  #fill: (text: string) => string = (text) => text;
  #text: string | undefined;

  get text(): string {
    this.#text ??= JSON.stringify(this.#make());
    return this.#fill(this.#text);
  }

  /** `make` is called once, when the text is first asked for; `fill` puts what is known at the moment into it. */
  set(make: () => unknown, fill: (text: string) => string): void {
    this.#make = make;
    this.#fill = fill;
    this.#text = undefined;
  }
}
