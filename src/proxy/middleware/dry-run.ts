// Dry run of a middleware on a request, as far as the request alone decides: for explaining, where nothing is run.

import type { ConsumerFacts, RequestView } from '../../expression/cel/value-view.ts';
import type { ExplainedChange } from '../../model/answers/explained-outcome.ts';
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { TemplateRequest } from './request-template.ts';

/** Hypothetical request. */
interface DryRunRequest extends TemplateRequest {
  readonly view: RequestView;
  /** Without the question mark. */
  readonly query: string;
  /** Consumers of the configuration. */
  readonly consumers: ConsumerDirectory;
  headers(): Iterable<readonly [lowerName: string, value: string]>;
}

export interface DryRunResult {
  /** Status with which it answers itself; the request goes no further. */
  readonly answers?: number;
  /** Request fields, in order; a value of null removes the field. */
  readonly changes?: readonly ExplainedChange[];
  /** Consumer that it finds. */
  readonly consumer?: ConsumerFacts;
  /** Query for the upstream, where it changes. */
  readonly query?: string;
}

export type DryRun = (request: DryRunRequest) => DryRunResult;
