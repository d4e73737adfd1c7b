// Examples of requests that a candidate would treat differently: workers send them, main keeps the first of each kind,
// with secrets masked.
import type { ShadowExample } from '../../model/answers/rollout-answers.ts';
import { joinedExamples, noShadowExamples, type ShadowExamples } from '../../model/shadow.ts';
import type { ShadowKind } from '../../model/shadow-kinds.ts';
import type { Clock } from '../../util/clock.ts';

/** Characters of a text in an example. */
const charactersMax = 256;

/** An example as a thread tells it. */
export interface FoundExample extends Pick<ShadowExample, 'method' | 'host' | 'path' | 'what'> {
  readonly rollout: string;
  readonly kinds: readonly ShadowKind[];
  /** As `parameterNames` gives them. */
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
      method: this.#shown(method),
      host: this.#shown(host),
      path: this.#shown(path),
      // An empty name at the end stands for what was left out.
      params: params.split('&').flatMap((name) => (name === '' ? [] : [this.#shown(name)])),
      from: this.#named(from),
      to: this.#named(to),
      what,
    };
    const list = [example];
    for (const kind of kinds) this.#examples = joinedExamples([this.#examples, { [kind]: list }]);
  }

  #named(route: FoundExample['from']): ShadowExample['from'] {
    return route === undefined ? null : { id: route.id, name: this.#shown(route.name) };
  }

  /** Masks before it cuts: a part of a secret is not found. */
  #shown(text: string): string {
    return this.#masked(text).slice(0, charactersMax);
  }
}
