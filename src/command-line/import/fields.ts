// Fields of a map in YAML or JSON, as mappers read them: what is read counts as taken.
import type { Ledger } from './import-ledger.ts';
import type { Statement } from './statement.ts';

export class Fields {
  readonly statement: Statement;
  readonly ledger: Ledger;

  constructor(statement: Statement, ledger: Ledger) {
    this.statement = statement;
    this.ledger = ledger;
  }

  get keys(): string[] {
    return this.statement.children.map(({ key }) => key);
  }

  /** Scalar that stands here; marked as taken. */
  get value(): string | undefined {
    this.ledger.taken(this.statement);
    return this.statement.words[0];
  }

  /** Returns the statement of a key without marking it. */
  find(key: string): Statement | undefined {
    return this.statement.children.find((child) => child.key === key);
  }

  child(key: string): Fields | undefined {
    const found = this.find(key);
    if (found === undefined) return undefined;
    if (found.children.length === 0 && found.words.length === 0) this.ledger.taken(found);
    return new Fields(found, this.ledger);
  }

  /** Follows several keys. */
  at(...keys: readonly string[]): Fields | undefined {
    return keys.reduce<Fields | undefined>((fields, key) => fields?.child(key), this);
  }

  text(key: string): string | undefined {
    const found = this.find(key);
    return found === undefined || found.children.length > 0 ? undefined : new Fields(found, this.ledger).value;
  }

  number(key: string): number | undefined {
    const text = this.text(key);
    return text === undefined || text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
  }

  isTrue(key: string): boolean {
    return this.text(key) === 'true';
  }

  list(key: string): Fields[] {
    return (this.child(key)?.statement.children ?? []).map((child) => new Fields(child, this.ledger));
  }

  /** Scalars of a list; one that stands alone is a list of it. */
  texts(key: string): string[] {
    const alone = this.text(key);
    if (alone !== undefined) return [alone];
    return this.list(key).flatMap((each) => each.value ?? []);
  }

  /** Scalars by key. */
  map(key: string): [string, string, Statement][] {
    return (this.child(key)?.statement.children ?? []).map((child) => {
      this.ledger.taken(child);
      return [child.key, child.words[0] ?? '', child];
    });
  }

  approximated(key: string, why: string): void {
    const found = this.find(key);
    if (found !== undefined) this.ledger.approximated(found, why);
  }

  notTaken(key: string, why: string, instead?: string): void {
    const found = this.find(key);
    if (found !== undefined) this.ledger.notTaken(found, why, instead);
  }
}
