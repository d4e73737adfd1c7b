// Route that stays text in the memory that main has written, and is parsed when a field other than its name is read: of
// a hundred thousand routes most are read once, when they are compiled. A worker keeps no tree of objects for them.
import type { Route } from '../../model/route.ts';

/** The route that was parsed last: the compiler reads one field of a route after the other. */
let last: { readonly route: PackedRoute; readonly content: Route } | undefined;

/** `Record`: a field of a route that is not read here would be absent from every route of a large table. */
export class PackedRoute implements Route, Record<keyof Route, unknown> {
  readonly id: string;
  readonly name: string;
  readonly #texts: Buffer;
  readonly #from: number;
  readonly #end: number;

  /** `texts` holds the JSON of the route, UTF-8, from one place to the other, and does not change. */
  constructor(id: string, name: string, texts: Buffer, from: number, end: number) {
    this.id = id;
    this.name = name;
    this.#texts = texts;
    this.#from = from;
    this.#end = end;
  }

  get owner(): Route['owner'] {
    return this.#content.owner;
  }

  get labels(): Route['labels'] {
    return this.#content.labels;
  }

  get match(): Route['match'] {
    return this.#content.match;
  }

  get disabled(): Route['disabled'] {
    return this.#content.disabled;
  }

  get priority(): Route['priority'] {
    return this.#content.priority;
  }

  get listenerIds(): Route['listenerIds'] {
    return this.#content.listenerIds;
  }

  get forward(): Route['forward'] {
    return this.#content.forward;
  }

  get redirect(): Route['redirect'] {
    return this.#content.redirect;
  }

  get directResponse(): Route['directResponse'] {
    return this.#content.directResponse;
  }

  get maxRequestBodyBytes(): Route['maxRequestBodyBytes'] {
    return this.#content.maxRequestBodyBytes;
  }

  get errorPages(): Route['errorPages'] {
    return this.#content.errorPages;
  }

  get middlewareIds(): Route['middlewareIds'] {
    return this.#content.middlewareIds;
  }

  get middlewareOverrides(): Route['middlewareOverrides'] {
    return this.#content.middlewareOverrides;
  }

  toJSON(): Route {
    return this.#content;
  }

  get #content(): Route {
    if (last?.route === this) return last.content;
    const content = JSON.parse(this.#texts.toString('utf8', this.#from, this.#end)) as Route;
    last = { route: this, content };
    return content;
  }
}
