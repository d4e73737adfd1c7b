// Fields of one header block: the values of its pseudo-fields, and the other fields as lines (RFC 9113 §8.2, §8.3).
// Each rule that makes a message malformed is checked here, before other code sees the message: no field of HTTP/2
// can get another meaning in another version of HTTP. Belongs to a stream and is reused.

import type { FieldLines } from '../fields/field-lines.ts';
import { type FieldId, fieldId } from '../fields/field-name.ts';
import { targetByte, tokenByte } from '../http1/characters.ts';
import { type FieldInfo, fieldRole, hasBadValue, idOf, roleOf } from './field-rules.ts';
import { guards } from './guards.ts';
import type { FieldSink } from './hpack/decoder.ts';

/** Limits of a listener; a head beyond them gets a response and does not break the connection. */
export interface BlockLimits {
  /** Sum of the lengths of names and values, cookies joined; 0 = no limit of the listener's. */
  readonly fieldBytesMax: number;
  readonly linesMax: number;
}

export type BlockKind = 'request' | 'response' | 'trailers';

/** Length of arrays beyond which they are not kept for the next block. */
const keptLinesMax = 64;

export class FieldBlock implements FieldSink, FieldLines {
  /**
   * Number of lines that are neither pseudo-fields nor cookies; the joined cookie comes last. `host` is the
   * authority.
   */
  count = 0;
  #names: string[] = [];
  #values: string[] = [];
  #ids: FieldId[] = [];
  method = '';
  scheme = '';
  authority = '';
  path = '';
  protocol = '';
  /** Status code; 0 = none. */
  status = 0;
  /** Value of Content-Length; −1 = none. */
  contentLength = -1;
  /** Reason why the message is malformed; empty when it is well-formed. */
  problem = '';
  /** True beyond the limits: fields above them have not been kept. */
  tooLarge = false;
  /** True when `host` names another host than `:authority`. */
  hostConflict = false;
  /** Sum of the lengths of names and values. */
  fieldBytes = 0;
  /** `fieldBytes` with 32 bytes more for each field (RFC 9113 §6.5.2). */
  listBytes = 0;
  #kind: BlockKind = 'request';
  #limits: BlockLimits = { fieldBytesMax: 0, linesMax: 0 };
  #fields = 0;
  /** Line of the cookie; −1 = none. */
  #cookieAt = -1;
  #regular = false;
  #hasHost = false;

  begin(kind: BlockKind, limits: BlockLimits): void {
    this.clear();
    this.#kind = kind;
    this.#limits = limits;
  }

  /** Releases the texts it holds. */
  clear(): void {
    if (this.#names.length > keptLinesMax) {
      this.#names = [];
      this.#values = [];
      this.#ids = [];
    }
    this.count = 0;
    this.method = '';
    this.scheme = '';
    this.authority = '';
    this.path = '';
    this.protocol = '';
    this.status = 0;
    this.contentLength = -1;
    this.problem = '';
    this.tooLarge = false;
    this.hostConflict = false;
    this.fieldBytes = 0;
    this.listBytes = 0;
    this.#fields = 0;
    this.#cookieAt = -1;
    this.#regular = false;
    this.#hasHost = false;
  }

  /** True when the block was so large that it was not read to its end. */
  get excessive(): boolean {
    return this.listBytes > guards.cutListBytes || this.#fields > guards.cutFields;
  }

  // Field lines, as later stages see them.

  get hasDate(): boolean {
    return this.find(fieldId.date) >= 0;
  }

  name(line: number): string {
    return this.#names[line] ?? '';
  }

  value(line: number): string {
    return this.#values[line] ?? '';
  }

  /** Returns the `fieldId` of a line. */
  id(line: number): FieldId {
    return this.#ids[line] ?? fieldId.other;
  }

  /** Returns the first line with this id, or −1. */
  find(id: FieldId): number {
    for (let i = 0; i < this.count; i++) if (this.#ids[i] === id) return i;
    return -1;
  }

  first(lowerName: string): string | undefined {
    const line = this.lineOf(lowerName, 0);
    return line < 0 ? undefined : this.#values[line];
  }

  lineOf(lowerName: string, from: number): number {
    for (let i = from; i < this.count; i++) if (this.#names[i] === lowerName) return i;
    return -1;
  }

  // Callbacks of the HPACK decoder.

  /** Takes a field. Returns false when the block is too large to be read on. */
  field(name: string, value: string, info: FieldInfo): boolean {
    this.#take(name, value, info);
    return !this.excessive;
  }

  #take(name: string, value: string, info: FieldInfo): void {
    this.listBytes += name.length + value.length + 32;
    if (++this.#fields > guards.fieldsMax || this.listBytes > guards.listBytesMax) this.tooLarge = true;
    if (this.tooLarge) this.#keepType(name, value, idOf(info));
    if (this.tooLarge || this.problem !== '') return;
    if (hasBadValue(info)) {
      this.problem = `invalid value of ${name}`;
      return;
    }
    const role = roleOf(info);
    if (role === fieldRole.regular) this.#line(name, value, idOf(info));
    else if (role < fieldRole.cookie) this.#pseudo(role, name, value);
    else this.#special(role, name, value, idOf(info));
  }

  /** Checks the block after its last field. */
  finish(): void {
    if (this.problem !== '' || this.tooLarge) return;
    if (this.#kind === 'request') this.problem = this.#requestProblem();
    else if (this.#kind === 'response' && this.status === 0) this.problem = 'no :status';
  }

  #line(name: string, value: string, id: FieldId): void {
    this.#regular = true;
    this.#add(name, value, id);
  }

  #add(name: string, value: string, id: FieldId): void {
    const { fieldBytesMax, linesMax } = this.#limits;
    this.fieldBytes += name.length + value.length;
    if (this.count === linesMax || (fieldBytesMax > 0 && this.fieldBytes > fieldBytesMax)) {
      this.tooLarge = true;
      this.#keepType(name, value, id);
    } else this.#keep(name, value, id);
  }

  /** Keeps the content type beyond the limits: a gRPC caller gets the refusal in the form of gRPC. */
  #keepType(name: string, value: string, id: FieldId): void {
    if (name === 'content-type' && this.first(name) === undefined) this.#keep(name, value, id);
  }

  #keep(name: string, value: string, id: FieldId): void {
    this.#names[this.count] = name;
    this.#values[this.count] = value;
    this.#ids[this.count++] = id;
  }

  #special(role: number, name: string, value: string, id: FieldId): void {
    this.#regular = true;
    switch (role) {
      case fieldRole.cookie:
        this.#joinCookie(name, value, id);
        break;
      case fieldRole.host:
        this.#host(value);
        break;
      case fieldRole.contentLength:
        this.#length(name, value, id);
        break;
      case fieldRole.te:
        if (value.toLowerCase() === 'trailers') this.#add(name, value, id);
        else this.problem = 'te other than trailers';
        break;
      case fieldRole.hop:
        this.problem = `${name} has no place in HTTP/2`;
        break;
      default:
        this.problem = 'invalid field name';
    }
  }

  /** Joins a piece of a cookie (RFC 9113 §8.2.3) to the line of the first piece. */
  #joinCookie(name: string, value: string, id: FieldId): void {
    const at = this.#cookieAt;
    if (at < 0) {
      if (this.#kind !== 'trailers') this.#cookieAt = this.count;
      this.#add(name, value, id);
      return;
    }
    this.fieldBytes += 2 + value.length;
    if (this.#limits.fieldBytesMax > 0 && this.fieldBytes > this.#limits.fieldBytesMax) this.tooLarge = true;
    else this.#values[at] = `${this.value(at)}; ${value}`;
  }

  #host(value: string): void {
    if (this.#kind !== 'request') {
      this.#add('host', value, fieldId.host);
      return;
    }
    // This `host` equals the line that `:authority` made.
    if (this.#hasHost) this.hostConflict ||= value.toLowerCase() !== this.authority.toLowerCase();
    else {
      this.#hasHost = true;
      this.authority = value;
      this.#add('host', value, fieldId.host);
    }
  }

  #length(name: string, value: string, id: FieldId): void {
    if (this.#kind === 'trailers') return;
    const length = /^[0-9]{1,15}$/.test(value) ? Number(value) : -1;
    if (length < 0) this.problem = 'invalid content-length';
    else if (this.contentLength >= 0) this.problem = 'more than one content-length';
    this.contentLength = length;
    this.#add(name, value, id);
  }

  #pseudo(role: number, name: string, value: string): void {
    if (this.#regular) this.problem = `${name} behind other fields`;
    else if (this.#kind === 'trailers') this.problem = `${name} in trailers`;
    else if ((role === fieldRole.status) !== (this.#kind === 'response') || role === fieldRole.unknownPseudo)
      this.problem = `${name} has no place here`;
    else this.#readPseudo(role, name, value);
  }

  #readPseudo(role: number, name: string, value: string): void {
    const had = this.#exchangePseudo(role, value);
    if (had) this.problem = `more than one ${name}`;
    else if (value === '') this.problem = `empty ${name}`;
  }

  /** Sets a pseudo-field; returns whether it had been set before. */
  #exchangePseudo(role: number, value: string): boolean {
    let before = '';
    switch (role) {
      case fieldRole.method:
        before = this.method;
        this.method = value;
        break;
      case fieldRole.scheme:
        before = this.scheme;
        this.scheme = value;
        break;
      case fieldRole.path:
        before = this.path;
        this.path = value;
        break;
      case fieldRole.protocol:
        before = this.protocol;
        this.protocol = value;
        break;
      case fieldRole.authority:
        if (this.#hasHost) return true;
        this.#hasHost = true;
        this.authority = value;
        this.#add('host', value, fieldId.host);
        return false;
      case fieldRole.status:
        if (this.status !== 0) return true;
        this.status = /^[1-9][0-9]{2}$/.test(value) ? Number(value) : 0;
        if (this.status === 0 || this.status === 101) this.problem = 'invalid :status';
        return false;
    }
    return before !== '';
  }

  #requestProblem(): string {
    if (this.method === '') return 'no :method';
    if (!isToken(this.method)) return 'invalid :method';
    if (this.method === 'CONNECT' && this.protocol === '') {
      return this.scheme !== '' || this.path !== '' ? 'CONNECT with :scheme or :path' : '';
    }
    if (this.protocol !== '' && this.method !== 'CONNECT') return ':protocol without CONNECT';
    if (this.protocol !== '' && !isToken(this.protocol)) return 'invalid :protocol';
    if (this.scheme !== 'http' && this.scheme !== 'https') return this.scheme === '' ? 'no :scheme' : 'unknown :scheme';
    if (this.path === '') return 'no :path';
    const rooted = this.path.charCodeAt(0) === 47 || (this.path === '*' && this.method === 'OPTIONS');
    return rooted && isTarget(this.path) ? '' : 'invalid :path';
  }
}

function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (tokenByte[text.charCodeAt(i)] !== 1) return false;
  return true;
}

function isTarget(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (targetByte[text.charCodeAt(i)] !== 1) return false;
  return true;
}
