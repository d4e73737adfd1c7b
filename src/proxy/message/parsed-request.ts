// Parsed head of a request, in any version of HTTP: all later stages derive their view of the request from it alone.
import type { FieldLines } from '../fields/field-lines.ts';
import type { FieldId } from '../fields/field-name.ts';

export interface ParsedRequest {
  readonly method: string;
  /** Target as sent. */
  readonly target: string;
  readonly protocol: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  /** True when the head equals that of the previous request on the connection, byte for byte. */
  readonly repeats: boolean;
  readonly head: FieldLines & {
    /** Returns the first line with this id, or −1. */
    find(id: FieldId): number;
  };
}

/** Framing of the body, and connection options, as the codec read them. */
export interface ParsedFraming {
  readonly kind: 'none' | 'length' | 'chunked' | 'close';
  /** Bytes of the body; with `length` only. */
  readonly length: number;
  readonly named: readonly string[];
  readonly upgrade: string;
  readonly expectContinue: boolean;
}

/** Returns the length of the line that begins a request in HTTP/1.1 (RFC 9112 §3). */
export const requestLineBytes = (methodBytes: number, targetBytes: number): number =>
  methodBytes + 1 + targetBytes + ' HTTP/1.1'.length;
