// Prefixes by whole segments (architecture.md §6.7). A look-up walks the path once, hashes each segment where it lies
// and cuts nothing out of it, so that it allocates nothing and costs what the path has segments, not what the table has
// routes.

export class SegmentTrie<T> {
  readonly #root = new Node<T>('');

  /** Value of the prefix, made by `make` when there is none yet. Prefixes begin with a slash, or are empty: any path. */
  at(prefix: string, make: () => T): T {
    let node = this.#root;
    for (const segment of prefix === '' ? [] : prefix.slice(1).split('/')) node = node.childOf(segment);
    node.value ??= make();
    return node.value;
  }

  /** Gives every value whose prefix the path has to `found`, shortest first; returns how many there are. */
  collect(path: string, found: (T | undefined)[]): number {
    let count = 0;
    let node: Node<T> | undefined = this.#root;
    let start = 1;
    while (node !== undefined) {
      if (node.value !== undefined) found[count++] = node.value;
      if (start > path.length || node.isLeaf) return count;
      const end = path.indexOf('/', start);
      const stop = end < 0 ? path.length : end;
      node = node.find(path, start, stop);
      start = stop + 1;
    }
    return count;
  }
}

class Node<T> {
  readonly segment: string;
  value: T | undefined;
  /** One child needs no hash and no table: two places in memory less to look at. */
  #only: Node<T> | undefined;
  /** Two and more, by hash of the segment; what shares a hash is chained. */
  #children: Map<number, Node<T>> | undefined;
  #next: Node<T> | undefined;

  constructor(segment: string) {
    this.segment = segment;
  }

  get isLeaf(): boolean {
    return this.#only === undefined && this.#children === undefined;
  }

  childOf(segment: string): Node<T> {
    const found = this.find(segment, 0, segment.length);
    if (found !== undefined) return found;
    const made = new Node<T>(segment);
    if (this.isLeaf) {
      this.#only = made;
      return made;
    }
    const children = this.#children ?? new Map<number, Node<T>>();
    if (this.#only !== undefined) chain(children, this.#only);
    chain(children, made);
    this.#only = undefined;
    this.#children = children;
    return made;

    function chain(table: Map<number, Node<T>>, node: Node<T>): void {
      const hash = hashOf(node.segment, 0, node.segment.length);
      node.#next = table.get(hash);
      table.set(hash, node);
    }
  }

  find(path: string, start: number, end: number): Node<T> | undefined {
    let node = this.#only ?? this.#children?.get(hashOf(path, start, end));
    while (node !== undefined && !(node.segment.length === end - start && path.startsWith(node.segment, start))) {
      node = node.#next;
    }
    return node;
  }
}

/** FNV-1a, cut to 30 bits so that it stays a small integer. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash & 0x3fffffff;
}
