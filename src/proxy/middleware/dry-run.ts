// Dry run of a middleware on a request, as far as the request alone decides: for explaining, where nothing is run.
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { TemplateRequest } from './request-template.ts';

/** Hypothetical request. */
interface DryRunRequest extends TemplateRequest {
  readonly view: RequestView;
}

export interface DryRunResult {
  /** Status with which it answers itself; the request goes no further. */
  readonly answers?: number;
  /** Request fields, in order; a value of null removes the field. */
  readonly changes?: readonly FieldChange[];
}

export interface FieldChange {
  readonly name: string;
  readonly value: string | null;
  /** Beside the lines that are there. */
  readonly append: boolean;
}

export type DryRun = (request: DryRunRequest) => DryRunResult;
