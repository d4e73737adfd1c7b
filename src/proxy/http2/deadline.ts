// A deadline that calls a function; for things with more than one.
import { Timed } from '../wheel.ts';

export class Deadline extends Timed {
  readonly #act: () => void;

  constructor(act: () => void) {
    super();
    this.#act = act;
  }

  override onDeadline(): void {
    this.#act();
  }
}
