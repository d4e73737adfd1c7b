// Smallest bodies that each kind accepts, with changes on top; and what is wrong with a body, in one line each.
import { expect } from 'chai';
import type { Kind } from '../../src/model/kinds.ts';
import { parseEntity } from '../../src/model/validation.ts';

type Body = Readonly<Record<string, unknown>>;

export const listenerBody = (changes: Body = {}): Body => ({ name: 'edge', port: 8080, ...changes });

export const destinationBody = (changes: Body = {}): Body => ({
  name: 'd',
  host: 'catalog.internal',
  port: 80,
  ...changes,
});

export const forwardTo = (...destinationIds: readonly string[]): Body => ({
  destinations: destinationIds.map((destinationId) => ({ destinationId })),
});

export const routeBody = (changes: Body = {}): Body => ({ name: 'r', forward: forwardTo('d'), ...changes });

export const groupBody = (changes: Body = {}): Body => ({ name: 'g', ...changes });

export const middlewareBody = (type: string, block?: unknown): Body => ({ name: 'm', type, [type]: block });

/** Problems of an entity, as `<pointer> <message>`. */
export const problemsWith = (kind: Kind, body: unknown): string[] =>
  parseEntity(kind, body).problems.map(({ pointer, message }) => `${pointer} ${message}`);

/** The pointers of all problems, in order. */
export const pointersOf = (kind: Kind, body: unknown): string[] =>
  parseEntity(kind, body).problems.map(({ pointer }) => pointer);

/** A row of a table of bodies: what it shows, the body, and the pointers of its problems. */
export type Row = readonly [what: string, body: unknown, pointers?: readonly string[]];

/** Declares a test per row: the body has exactly these problems; none when the row names none. */
export const describeRows = (title: string, kind: Kind, rows: readonly Row[]): void => {
  describe(title, () => {
    for (const [what, body, pointers = []] of rows) {
      it(`${pointers.length > 0 ? 'refuses' : 'accepts'} ${what}`, () => {
        expect(pointersOf(kind, body), JSON.stringify(problemsWith(kind, body))).to.have.members(pointers);
      });
    }
  });
};
