// Holds the OpenAPI document, which can be made only once all operations are registered.

export class OpenApiText {
  #text = '{}';

  get text(): string {
    return this.#text;
  }

  set(document: unknown): void {
    this.#text = JSON.stringify(document);
  }
}
