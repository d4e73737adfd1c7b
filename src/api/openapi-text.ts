// Holds the OpenAPI document. It can be made only once all operations are registered, and takes a tenth of a second that
// a start should not wait for, so the first reader has it made.

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
