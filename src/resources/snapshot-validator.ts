// Validator of snapshots: checks that the staged configuration can be served (architecture.md §6.11, §6.19): references
// resolve, middlewares exist, resolved values are valid, and the whole compiles. All problems of a step are named at
// once.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SluiceError } from '../errors.ts';
import { countsOf } from '../findings/finding.ts';
import { describe, type Problem, pointerOf } from '../model/problem.ts';
import type { Configuration } from '../model/proxy-config.ts';
import type { Severity } from '../model/severity.ts';
import { validateResolved } from '../model/validation.ts';
import { configurationOf, resolvedSpec } from '../snapshot/build.ts';
import { resolveReferences } from '../snapshot/collect.ts';
import { findDangling } from '../snapshot/dangling.ts';
import { idleBindings } from '../snapshot/idle-bindings.ts';
import { overlappingListeners } from '../snapshot/listener-overlap.ts';
import { holdersIn, scanEntities } from '../snapshot/listing.ts';
import type { SecretSources } from '../snapshot/secret-sources.ts';
import { type Captured, type Staged, stagedOf } from '../snapshot/staged.ts';
import type { StateView } from '../state/view.ts';
import { inSlices } from '../util/time-slice.ts';
import { type Find, keptFindings, refuseFindings, unusedSecrets } from './findings/findings-report.ts';
import { maskedProblems } from './masked-values.ts';
import { logProblems, type NodeChecks, noChecks } from './node-checks.ts';

/** Compiles a configuration as a proxy would, without serving it. */
export type CheckConfig = (config: Configuration) => CheckResult | Promise<CheckResult>;

/** Result of a check. Pointers name entities by id: `/routes/<id>/match`. */
export interface CheckResult {
  /** Problems that forbid the snapshot. */
  readonly problems: readonly Problem[];
  /** Problems that do not keep the rest of the snapshot from being served. */
  readonly warnings: readonly Problem[];
}

interface ValidatorParts {
  readonly sources: SecretSources;
  readonly checkConfig: CheckConfig;
  /** Checks of the node. Default: none. */
  readonly node?: NodeChecks | undefined;
  readonly find: Find;
}

export interface ValidationOptions {
  /** True: dangling references are problems. */
  readonly strict: boolean;
  /** Findings so grave, or graver, refuse the configuration. Undefined: none do. */
  readonly failOn?: Severity | undefined;
}

export interface Validated {
  /** Index of the last change that was seen. */
  readonly checkedAt: number;
  /** Values of env and file references, by their whole text. */
  readonly values: Readonly<Record<string, string>>;
  readonly warnings: readonly Problem[];
}

/** Validation that returns the problems instead of rejecting. */
export interface ValidationReport extends Validated {
  /** Value of every reference. */
  readonly resolved: Captured['values'];
  readonly problems: readonly Problem[];
}

/** Routes of the largest configuration whose findings are counted at its capture. */
const countedMax = 20_000;

export class SnapshotValidator {
  readonly #sources: SecretSources;
  readonly #checkConfig: CheckConfig;
  readonly #node: NodeChecks;
  readonly #find: Find;

  constructor({ sources, checkConfig, node = noChecks, find }: ValidatorParts) {
    this.#find = find;
    this.#node = node;
    this.#sources = sources;
    this.#checkConfig = checkConfig;
  }

  /** Validates the staged state. Rejects with INVALID, naming all problems of the first step that has any. FINDINGS for those of `failOn`. */
  async validate(view: StateView, options: ValidationOptions): Promise<Validated> {
    const { problems, resolved: _, ...validated } = await this.report(stagedOf(view), options);
    if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
    return validated;
  }

  /** Validates a configuration that may never be staged, as in a dry run; returns the problems, and rejects with FINDINGS alone. */
  async report(staged: Staged, { strict, failOn }: ValidationOptions): Promise<ValidationReport> {
    await inSlices(scanEntities(staged.entities));
    const { values, external, problems } = await resolveReferences(staged, this.#sources);
    const found =
      problems.length > 0
        ? { problems, warnings: [] }
        : await this.#check({ entities: staged.entities, values }, strict);
    if (failOn !== undefined && found.problems.length === 0) {
      const captured = { entities: staged.entities, values };
      refuseFindings(
        [...(await keptFindings(this.#find, captured)), ...unusedSecrets(captured, staged.secrets)],
        failOn,
      );
    }
    return { checkedAt: staged.changedAt, values: external, resolved: values, ...found };
  }

  /** Returns the warnings of the creation of a snapshot, computed again: a snapshot never changes. */
  async warningsOf(captured: Captured): Promise<readonly Problem[]> {
    const config = configurationOf(captured);
    const dangling = await inSlices(findDangling(config));
    const { warnings } = await this.#checkConfig(config);
    const ownPorts = this.#node.checkListeners(config.listeners);
    const listeners = [...overlappingListeners(config.listeners), ...idleBindings(config)];
    return problemsOf(captured, [dangling.warnings, listeners, ownPorts, warnings]);
  }

  /**
   * Counts the findings of a new snapshot, for its warnings: those of severity error and warning. Says so where the
   * configuration is so large that the capture would wait for them.
   */
  async findingsWarning(snapshot: Captured): Promise<readonly Problem[]> {
    if (snapshot.entities.routes.length > countedMax) {
      const why = `findings: not counted, because there are more than ${countedMax} routes; GET /findings lists them`;
      return [{ pointer: '', message: why }];
    }
    const { error, warning } = countsOf(await keptFindings(this.#find, snapshot));
    if (error + warning === 0) return [];
    const message = `findings: ${error} of severity error, ${warning} of severity warning; GET /findings lists them`;
    return [{ pointer: '', message }];
  }

  /** Returns all problems of the first step that has any. */
  async #check(captured: Captured, strict: boolean): Promise<CheckResult> {
    // Each of these takes a while for tens of thousands of entities: other work gets its turn in between.
    await nextTurn();
    const config = configurationOf(captured);
    await nextTurn();
    const dangling = await inSlices(findDangling(config));
    const refused = (problems: readonly Problem[]): CheckResult => ({
      problems: maskedProblems(problems, captured),
      warnings: [],
    });
    if (dangling.problems.length > 0) return refused(dangling.problems);
    const ownPorts = this.#node.checkListeners(config.listeners);
    if (strict && dangling.warnings.length + ownPorts.length > 0) return refused([...dangling.warnings, ...ownPorts]);
    const problems = problemsOfResolved(captured);
    if (problems.length > 0) return refused(problems);
    const logs = await logProblems(this.#node, config.middlewares);
    if (logs.length > 0) return refused(logs);
    await nextTurn();
    const compiled = await this.#checkConfig(config);
    await nextTurn();
    if (compiled.problems.length > 0) return refused(compiled.problems);
    const listeners = [...overlappingListeners(config.listeners), ...idleBindings(config)];
    const found = [dangling.warnings, listeners, ownPorts, compiled.warnings];
    return { problems: [], warnings: problemsOf(captured, found) };
  }
}

const problemsOf = (captured: Captured, found: readonly (readonly Problem[])[]): Problem[] =>
  maskedProblems(found.flat(), captured);

// What a value turned out to be wrong about is not said: a message about a regex quotes it, and it may be a secret.
const problemsOfResolved = (captured: Captured): Problem[] =>
  // Others were judged as a whole when they were written.
  holdersIn(captured.entities).flatMap(({ kind, entity }) =>
    validateResolved(kind, resolvedSpec(entity, captured.values)).map(({ pointer }) => ({
      pointer: pointerOf(kind, entity.id) + pointer,
      message: 'is not valid with its secret references resolved',
    })),
  );
