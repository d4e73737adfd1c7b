// What a middleware would do to a request, as far as the request alone tells: for explaining, where nothing is run.
import type { RequestView } from '../../expression/cel/value-view.ts';
import type { TemplateRequest } from './request-template.ts';

/** A request that nobody sent. */
interface ForetoldRequest extends TemplateRequest {
  readonly view: RequestView;
}

export interface Foretold {
  /** It answers itself, with this status, and the request goes no further. */
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

export type Foretell = (request: ForetoldRequest) => Foretold;
