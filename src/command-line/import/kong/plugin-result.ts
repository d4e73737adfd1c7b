// Result of a plugin of Kong, and what its mapper is given.
import type { Fields } from '../fields.ts';
import type { Ledger } from '../import-ledger.ts';
import type { ImportedMiddleware, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import type { Consumer } from './consumers.ts';

export interface PluginResult {
  readonly middlewares: readonly ImportedMiddleware[];
  readonly directResponse?: ModelFields;
  readonly maxRequestBodyBytes?: number;
}

export interface Given {
  readonly name: string;
  readonly from: Statement;
  readonly config: Fields;
  readonly ledger: Ledger;
  readonly consumers: readonly Consumer[];
}

export type Mapper = (given: Given) => PluginResult | undefined;

/** Result of one middleware. */
export const one = (each: ImportedMiddleware): PluginResult => ({ middlewares: [each] });
