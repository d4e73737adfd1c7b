// From the host of a request to the entries that may be for it: those of exactly this host, of each `*.suffix` above
// it, and of any host. All of them are asked; the order of the table decides, not the kind of host.

/** `Bucket` holds the entries of one host pattern. */
export class HostIndex<Bucket> {
  readonly #make: () => Bucket;
  readonly #exact = new Map<string, Bucket>();
  readonly #suffixes = new Map<string, Bucket>();
  #any: Bucket | undefined;

  constructor(make: () => Bucket) {
    this.#make = make;
  }

  bucketOf(kind: 'exact' | 'suffix' | 'any', text: string): Bucket {
    if (kind === 'any') {
      this.#any ??= this.#make();
      return this.#any;
    }
    const map = kind === 'exact' ? this.#exact : this.#suffixes;
    const known = map.get(text);
    if (known !== undefined) return known;
    const made = this.#make();
    map.set(text, made);
    return made;
  }

  /** Gives every bucket for the host to `found`; returns how many there are. */
  collect(host: string, found: (Bucket | undefined)[]): number {
    let count = 0;
    const exact = this.#exact.get(host);
    if (exact !== undefined) found[count++] = exact;
    // A suffix stands for one or more labels: it never begins at the host's first character, and `.a.b` has an empty one.
    if (this.#suffixes.size > 0 && host.charCodeAt(0) !== point) {
      for (let dot = host.indexOf('.', 1); dot > 0; dot = host.indexOf('.', dot + 1)) {
        const bucket = this.#suffixes.get(host.slice(dot));
        if (bucket !== undefined) found[count++] = bucket;
      }
    }
    if (this.#any !== undefined) found[count++] = this.#any;
    return count;
  }
}

const point = 0x2e;
