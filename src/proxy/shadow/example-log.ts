// Examples of requests that a candidate would treat differently: workers send them, main keeps the first of each kind,
// with secrets masked.
import {
  joinedExamples,
  noShadowExamples,
  type ShadowExample,
  type ShadowExamples,
  type ShadowKind,
} from '../../model/shadow.ts';
import type { Clock } from '../../util/clock.ts';

/** An example as a thread tells it. */
export interface FoundExample extends Pick<ShadowExample, 'method' | 'host' | 'path' | 'what'> {
  readonly rollout: string;
  readonly kinds: readonly ShadowKind[];
  /** Names of parameters, joined by `&`. */
  readonly params: string;
  readonly from: { readonly id: string; readonly name: string } | undefined;
  readonly to: FoundExample['from'];
}

export class ExampleLog {
  readonly #masked: (text: string) => string;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #rollout = '';
  #examples = noShadowExamples;

  /** @param masked a text without the secrets of the configurations in use */
  constructor(masked: (text: string) => string, clock: Pick<Clock, 'nowMs'>) {
    this.#masked = masked;
    this.#clock = clock;
  }

  /** Those of the rollout whose examples came last. */
  get examples(): ShadowExamples {
    return this.#examples;
  }

  /** From now on examples of that rollout are kept, and none of an earlier one. */
  begin(rollout: string): void {
    if (rollout === this.#rollout) return;
    this.#rollout = rollout;
    this.#examples = noShadowExamples;
  }

  take({ rollout, kinds, params, from, to, method, host, path, what }: FoundExample): void {
    if (rollout !== this.#rollout) return;
    const example: ShadowExample = {
      time: new Date(this.#clock.nowMs()).toISOString(),
      method,
      host: this.#masked(host),
      path: this.#masked(path),
      params: params === '' ? [] : params.split('&').map((name) => this.#masked(name)),
      from: this.#named(from),
      to: this.#named(to),
      what,
    };
    const list = [example];
    for (const kind of kinds) this.#examples = joinedExamples([this.#examples, { [kind]: list }]);
  }

  #named(route: FoundExample['from']): ShadowExample['from'] {
    return route === undefined ? null : { id: route.id, name: this.#masked(route.name) };
  }
}
