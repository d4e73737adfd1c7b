// Goes every way through a small world up to a depth. A world is rebuilt from its first action on when another way
// branches off; worlds that look the same are gone through once.
import { mix } from '../sim/state-machine.ts';
import { type Action, type Bounds, SmallWorld } from './small-world.ts';

export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** No way within depth and bounds is left. */
  readonly isComplete: boolean;
  /** The promise that was broken, and the way there. */
  readonly broken: { readonly message: string; readonly way: readonly string[] } | undefined;
}

export interface Limits {
  /** Actions one after the other. */
  readonly depth: number;
  readonly states: number;
  /** Asked now and then: true ends the search. */
  readonly isOver: () => boolean;
}

export function explore(bounds: Bounds, limits: Limits): Exploration {
  return new Explorer(bounds, limits).run();
}

class Explorer {
  readonly #bounds: Bounds;
  readonly #limits: Limits;
  /** Digest → how many actions deep it was gone through. */
  readonly #seen = new Map<number, number>();
  readonly #way: Action[] = [];
  #steps = 0;
  #isOver = false;
  #broken: Exploration['broken'];

  constructor(bounds: Bounds, limits: Limits) {
    this.#bounds = bounds;
    this.#limits = limits;
  }

  run(): Exploration {
    this.#visit(new SmallWorld(this.#bounds));
    const isComplete = !this.#isOver && this.#broken === undefined;
    return { states: this.#seen.size, steps: this.#steps, isComplete, broken: this.#broken };
  }

  #visit(world: SmallWorld): void {
    let current: SmallWorld | undefined = world;
    for (const action of world.actions()) {
      if (this.#isOver || this.#broken !== undefined) return;
      const next: SmallWorld = current ?? this.#rebuild();
      current = undefined;
      this.#step(next, action);
    }
  }

  #rebuild(): SmallWorld {
    const world = new SmallWorld(this.#bounds);
    for (const action of this.#way) world.perform(action);
    return world;
  }

  #step(world: SmallWorld, action: Action): void {
    world.perform(action);
    this.#way.push(action);
    this.#steps += 1;
    const left = this.#limits.depth - this.#way.length;
    if (world.violation !== undefined) this.#broken = { message: world.violation.message, way: this.#describe() };
    else if (this.#isNews(world, left) && left > 0) this.#visit(world);
    this.#way.pop();
  }

  #isNews(world: SmallWorld, left: number): boolean {
    const key = hashOf(world.digest());
    const before = this.#seen.get(key);
    if (before !== undefined && before >= left) return false;
    this.#seen.set(key, left);
    if (this.#seen.size >= this.#limits.states || (this.#steps % 1024 === 0 && this.#limits.isOver()))
      this.#isOver = true;
    return true;
  }

  #describe(): string[] {
    const world = new SmallWorld(this.#bounds);
    return this.#way.map((action) => {
      const text = world.describe(action);
      world.perform(action);
      return text;
    });
  }
}

/** 53 bits: two of a million states are confused once in some ten thousand runs. */
function hashOf(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < text.length; i += 1) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x5bd1e995);
  }
  return (mix(a, text.length) & 0x1f_ffff) * 0x1_0000_0000 + mix(b, a >>> 0);
}
