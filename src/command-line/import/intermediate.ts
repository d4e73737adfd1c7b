// Intermediate form of an import: routes with their destinations and middlewares in place, in an order given by ranks. Names,
// ids, shared parts and priorities are those of src/command-line/import/resources.ts (docs/decisions/import-by-ledger.md).
import type { Statement } from './statement.ts';

/** Fields as a resource of Sluice has them. */
export type ModelFields = Readonly<Record<string, unknown>>;

export interface Imported {
  readonly name: string;
  /** Statement that it is made of. */
  readonly from: Statement;
}

export interface ImportedListener extends Imported {
  readonly fields: ModelFields & { readonly port: number };
}

export interface ImportedDestination extends Imported {
  readonly fields: ModelFields & { readonly host: string; readonly port: number };
}

export interface ImportedMiddleware extends Imported {
  readonly type: string;
  readonly block: ModelFields;
  /** Destination that the block refers to, by the name of the field. */
  readonly uses?: { readonly field: 'destinationId' | 'jwksDestinationId'; readonly destination: ImportedDestination };
}

export interface ImportedConsumer extends Imported {
  readonly fields: ModelFields;
}

/** `begins`: the path begins with the text, in the middle of a segment too. `regex`: from the start of the path. */
export interface PathMatch {
  readonly is: 'exact' | 'prefix' | 'begins' | 'regex';
  readonly text: string;
}

export interface Share {
  readonly destination: ImportedDestination;
  readonly weight?: number;
  /** Further fields of the entry of this share. */
  readonly fields?: ModelFields;
}

export interface ImportedRoute extends Imported {
  /** Empty: any. */
  readonly hosts: readonly string[];
  readonly path?: PathMatch;
  /** Further fields of `match`. */
  readonly match?: ModelFields;
  /** Compared from the left; of two routes that match, the higher wins. */
  readonly rank: readonly number[];
  /** Names of imported listeners. Absent: all. */
  readonly listeners?: readonly string[];
  readonly middlewares: readonly ImportedMiddleware[];
  readonly forward?: { readonly shares: readonly Share[]; readonly fields?: ModelFields };
  readonly redirect?: ModelFields;
  readonly directResponse?: ModelFields;
  readonly errorPages?: readonly ModelFields[];
  /** 0: none. Absent: that of the listener. */
  readonly maxRequestBodyBytes?: number;
  /** Request of its case, where the match alone does not say one. */
  readonly sample?: {
    readonly path?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly clientIp?: string;
    /** Query, from its question mark on. */
    readonly query?: string;
  };
}

interface ImportedStreamRoute extends Imported {
  readonly match: ModelFields;
  readonly listeners?: readonly string[];
  readonly shares: readonly Share[];
  readonly fields?: ModelFields;
}

export interface ImportedConfig {
  readonly listeners: readonly ImportedListener[];
  readonly routes: readonly ImportedRoute[];
  readonly streamRoutes?: readonly ImportedStreamRoute[];
  readonly consumers?: readonly ImportedConsumer[];
  /** Differences that hold for every request, and stand for no single statement. */
  readonly differences: readonly string[];
}
