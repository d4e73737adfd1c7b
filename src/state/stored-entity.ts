// Entity, one resource and its row: `<revision>[ <time>][ <writer as JSON>]\n<json>`. The text is kept; the object is parsed on demand, so that
// old snapshots cost their bytes and not a tree of objects.

import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '../model/config-digest.ts';
import { mayHoldReferences } from '../model/secret-reference.ts';
import type { Spec } from './command.ts';
import type { Stored } from './view.ts';

/** Facts about the write of an entity. */
interface Written {
  /** Owner in whose name the batch that wrote it last was sent; undefined for every other write. */
  readonly writer?: string | undefined;
  /** Log time of the last change of a secret's value, Unix ms; undefined for other kinds, and where it was not noted. */
  readonly changedAt?: number | undefined;
}

export class Entity implements Stored {
  readonly id: string;
  readonly revision: number;
  readonly json: string;
  /** Looked for when it is made: a capture asks a hundred thousand at once. */
  readonly holdsReferences: boolean;
  readonly writer: string | undefined;
  readonly changedAt: number | undefined;
  #spec: Spec | undefined;
  #name: string | undefined;
  #owner: string | null | undefined;
  #canonical: string | undefined;

  constructor(id: string, revision: number, json: string, spec?: Spec, { writer, changedAt }: Written = {}) {
    this.writer = writer;
    this.changedAt = changedAt;
    this.id = id;
    this.revision = revision;
    this.json = json;
    this.#spec = spec;
    this.holdsReferences = mayHoldReferences(json);
  }

  static of(id: string, revision: number, spec: Spec, written?: Written): Entity {
    return new Entity(id, revision, JSON.stringify(spec), spec, written);
  }

  get spec(): Spec {
    this.#spec ??= JSON.parse(this.json) as Spec;
    return this.#spec;
  }

  get canonical(): string {
    this.#canonical ??= this.#oneText(canonicalJson(this.spec));
    return this.#canonical;
  }

  /** Many clients write their fields in that order: one text is kept then, not two. */
  #oneText(canonical: string): string {
    return canonical === this.json ? this.json : canonical;
  }

  /** Reading it leaves no parsed spec behind: at a start every entity is asked. */
  get name(): string {
    this.#name ??= nameOf(this.#spec, this.json);
    return this.#name;
  }

  /** As cheap to ask of every entity as the name. */
  get owner(): string | undefined {
    if (this.#owner === undefined) this.#owner = ownerOf(this.#spec, this.json) ?? null;
    return this.#owner ?? undefined;
  }
}

function nameOf(spec: Spec | undefined, json: string): string {
  const name = spec === undefined ? (nameFirst.exec(json)?.[1] ?? (JSON.parse(json) as Spec).name) : spec.name;
  return typeof name === 'string' ? name : '';
}

function ownerOf(spec: Spec | undefined, json: string): string | undefined {
  const owner = spec?.owner ?? ownerIn(json);
  return typeof owner === 'string' ? owner : undefined;
}

function ownerIn(json: string): unknown {
  // Behind the name stands the owner, or another field.
  if (!json.includes('"owner":')) return undefined;
  return ownerThird.exec(json)?.[1] ?? (JSON.parse(json) as Spec).owner;
}

const ownerThird = /^\{"id":"[^"\\]*","name":"[^"\\]*","owner":"([^"\\]*)"/;

/** As specs are written, when neither text holds anything escaped. */
const nameFirst = /^\{"id":"[^"\\]*","name":"([^"\\]*)"/;

export function entityText({ revision, changedAt, writer, json }: Entity): string {
  const time = changedAt === undefined ? '' : ` ${changedAt}`;
  const by = writer === undefined ? '' : ` ${JSON.stringify(writer)}`;
  return `${revision}${time}${by}\n${json}`;
}

/** A text of its own, not a part of one that would be kept for its sake. */
export function parseEntityRow(id: string, row: Buffer): Entity {
  const end = row.indexOf('\n');
  const [, revision = '', time, writer] = rowHead.exec(row.toString('utf8', 0, end)) ?? [];
  const json = row.toString('utf8', end + 1);
  return new Entity(id, Number(revision), json, undefined, {
    writer: writer === undefined ? undefined : (JSON.parse(writer) as string),
    changedAt: time === undefined ? undefined : Number(time),
  });
}

/**
 * Returns a row as every node has it: without the time, which nodes of an earlier version do not note. No decision depends on
 * it.
 */
export function agreedRow(row: Buffer | string): Buffer | string {
  const head = typeof row === 'string' ? row.slice(0, numbersMax) : row.toString('latin1', 0, numbersMax);
  const [numbers, revision = ''] = revisionAndTime.exec(head) ?? [];
  if (numbers === undefined) return row;
  if (typeof row === 'string') return revision + row.slice(numbers.length);
  return Buffer.concat([Buffer.from(revision), row.subarray(numbers.length)]);
}

/** Characters of two safe integers and the blank between them. */
const numbersMax = 33;
const revisionAndTime = /^(\d+) \d+/;

/** Revision, time and writer. */
const rowHead = /^(\d+)(?: (\d+))?(?: (".*"))?$/;

/** Fields stand in the order of the schema, so texts are alike but for the order of keys that a caller chose. */
export const isSame = (a: Stored, b: Stored): boolean =>
  a.json === b.json || (a.json.length === b.json.length && isDeepStrictEqual(a.spec, b.spec));
