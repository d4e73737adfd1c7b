// A file that spells a default means what one means that leaves it out: no plan shows a change between them.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { readEntities } from '../../../src/command-line/input/input-entities.ts';
import { noVariables } from '../../../src/command-line/input/variables.ts';
import { type Plan, planOf } from '../../../src/command-line/plan/plan.ts';
import { withDefaults } from '../../../src/model/filled-defaults.ts';
import { isObject, type JsonObject } from '../../../src/model/json-object.ts';
import { type EditableKind, editableKinds } from '../../../src/model/kinds.ts';
import { parseEntity } from '../../../src/model/validation.ts';
import { samples } from '../../support/bodies.ts';

/** Spellings of an entity: some defaults of the filled one that it leaves out itself. */
function spelling(entity: unknown, filled: unknown, keeps: () => boolean): unknown {
  if (Array.isArray(entity) && Array.isArray(filled))
    return filled.map((each, at) => spelling(entity[at], each, keeps));
  if (!isObject(filled)) return filled;
  const own = isObject(entity) ? entity : {};
  const fields = Object.entries(filled).filter(([name]) => Object.hasOwn(own, name) || keeps());
  return Object.fromEntries(fields.map(([name, value]) => [name, spelling(own[name], value, keeps)]));
}

const kinds = editableKinds.filter((kind) => kind !== 'secrets');
const entities = kinds.flatMap((kind) =>
  samples[kind].map((sample) => {
    const { entity } = parseEntity(kind, { id: 'sample', ...(sample as JsonObject) });
    return { kind, entity };
  }),
);

const planned = (kind: EditableKind, file: object, stored: object): Plan =>
  planOf(
    readEntities([{ name: 'files.json', text: JSON.stringify({ [kind]: [file] }) }], noVariables, undefined),
    // Resources that a sample refers to are there.
    { entities: { [kind]: [stored] } } as never,
    { adopt: true },
  );

describe('defaults that a file spells', () => {
  it('are no change against a stored entity that leaves them out, nor the other way round', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.constantFrom(...entities), fc.infiniteStream(fc.boolean()), ({ kind, entity }, drawn) => {
        const filled = withDefaults(kind, entity);
        const keeps = () => drawn.next().value === true;
        const [file, stored] = [spelling(entity, filled, keeps), spelling(entity, filled, keeps)] as JsonObject[];
        fc.pre([file, stored].every((each) => parseEntity(kind, each).problems.length === 0));
        if (!isDeepStrictEqual(file, stored)) compared += 1;
        expect(withDefaults(kind, file!)).to.deep.equal(filled);
        expect(planned(kind, file!, stored!).changes).to.deep.equal([]);
      }),
      { numRuns: 300, seed: 7 },
    );
    expect(compared).to.be.above(100);
  });

  it('that are changed are shown from the default', () => {
    const destination = { id: 'a', name: 'a', host: 'a.internal', port: 1 };
    const slow = { ...destination, options: { timeouts: { connect: '9s' } } };
    const changesOf = (file: object, stored: object) => planned('destinations', file, stored).changes[0];
    const pointer = '/options/timeouts/connect';
    expect(changesOf(slow, destination)).to.deep.include({ changes: [{ pointer, from: '5s', to: '9s' }] });
    expect(changesOf(destination, slow)).to.deep.include({ changes: [{ pointer, from: '9s', to: '5s' }] });
  });

  it('that stand for nothing are none: a block whose presence says something is a change', () => {
    const listener = { id: 'l', name: 'l', address: '0.0.0.0', port: 80 };
    expect(planned('listeners', { ...listener, redirectToHttps: {} }, listener).changes).to.have.length(1);
    expect(planned('listeners', { ...listener, metrics: {} }, listener).changes).to.have.length(1);
    expect(planned('listeners', { ...listener, timeouts: {} }, listener).changes).to.deep.equal([]);
  });
});
