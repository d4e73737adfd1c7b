// A request's head as a codec read it, whatever its version of HTTP: what is told of it to everyone behind follows
// from this alone.
import type { FieldLines } from '../fields/field-lines.ts';
import type { FieldId } from '../fields/field-name.ts';

export interface ParsedRequest {
  readonly method: string;
  /** As sent. */
  readonly target: string;
  readonly protocol: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  /** The head is that of the request before on the same connection, byte for byte. */
  readonly repeats: boolean;
  readonly head: FieldLines & {
    /** The first line with this id, or −1. */
    find(id: FieldId): number;
  };
}

/** What the codec found out about the body, and about what is asked of the connection. */
export interface ParsedFraming {
  readonly kind: 'none' | 'length' | 'chunked' | 'close';
  /** Bytes of the body; with `length` only. */
  readonly length: number;
  readonly named: readonly string[];
  readonly upgrade: string;
  readonly expectContinue: boolean;
}
