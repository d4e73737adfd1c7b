// Whether the staged configuration can be served as it stands (architecture.md §6.11, §6.19): references resolve,
// middlewares exist, resolved values are valid, and the whole compiles. All problems of a step are named at once.
import { SluiceError } from '../../errors.ts';
import { describe, type Problem } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { validateResolved } from '../../model/validation.ts';
import { configurationOf } from '../../snapshot/build.ts';
import { resolveReferences } from '../../snapshot/collect.ts';
import { findDangling } from '../../snapshot/dangling.ts';
import type { SecretSources } from '../../snapshot/secret-sources.ts';
import { type Captured, stagedOf } from '../../snapshot/staged.ts';
import type { StateView } from '../../state/view.ts';

/** Compiles a configuration as a proxy would, without serving it. */
export type CheckConfig = (config: Configuration) => CheckResult | Promise<CheckResult>;

/** Pointers start at the configuration. */
export interface CheckResult {
  /** Not empty: the snapshot must not be created. */
  readonly problems: readonly Problem[];
  /** What will not work as written, and does not keep the rest from being served. */
  readonly warnings: readonly Problem[];
}

export interface Examined {
  /** Index of the last change that was seen. */
  readonly checkedAt: number;
  /** Values of env and file references, by their whole text. */
  readonly values: Readonly<Record<string, string>>;
  readonly warnings: readonly Problem[];
}

export class Examiner {
  readonly #sources: SecretSources;
  readonly #checkConfig: CheckConfig;

  constructor({ sources, checkConfig }: { sources: SecretSources; checkConfig: CheckConfig }) {
    this.#sources = sources;
    this.#checkConfig = checkConfig;
  }

  /** Rejects with INVALID, naming all problems of the first step that has any. `strict`: what dangles is a problem. */
  async examine(view: StateView, { strict }: { strict: boolean }): Promise<Examined> {
    const staged = stagedOf(view);
    const { values, external, problems } = await resolveReferences(staged, this.#sources);
    refuse(problems);
    const warnings = await this.#check({ entities: staged.entities, values }, strict);
    return { checkedAt: staged.changedAt, values: external, warnings };
  }

  /** What was doubtful about a snapshot when it was created: it has not changed since. */
  async doubts(captured: Captured): Promise<readonly Problem[]> {
    const config = configurationOf(captured);
    const { warnings } = await this.#checkConfig(config);
    return [...findDangling(config).warnings, ...warnings];
  }

  async #check(captured: Captured, strict: boolean): Promise<readonly Problem[]> {
    const config = configurationOf(captured);
    const dangling = findDangling(config);
    refuse(dangling.problems);
    if (strict) refuse(dangling.warnings);
    refuse(validateResolved(config));
    const compiled = await this.#checkConfig(config);
    refuse(compiled.problems);
    return [...dangling.warnings, ...compiled.warnings];
  }
}

function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
}
