import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigState } from '../../../src/state/config-state.ts';
import { OperationLines, operationLine } from '../../../src/state/operation-lines.ts';
import { SpecText } from '../../../src/state/spec-text.ts';
import { applyAll, batch } from '../../support/commands.ts';

const linesOf = (...lines: readonly string[]): OperationLines =>
  new OperationLines(lines.length, Buffer.from(lines.map((line) => `${line}\n`).join('')));

/** Text of secret `s` after the batch. */
function stored(operations: OperationLines, more: Parameters<typeof batch>[1] = {}): string | undefined {
  const state = new ConfigState();
  applyAll(state, { ...batch([], more), operations });
  return state.get('secrets', 's')?.json;
}

describe('lines of a batch', () => {
  it('hand the text of an entity on as it is, with its id in front', () => {
    const created = String.raw`{"op":"upsert","kind":"secrets","by":"id","id":"s","spec":{"name":"\u0073","value":"x"}}`;
    expect(stored(linesOf(created))).to.equal(String.raw`{"id":"s","name":"\u0073","value":"x"}`);
  });

  it('give an entity a text of its own where its owner is that of the batch', () => {
    const line = operationLine({ op: 'upsert', kind: 'secrets', by: 'id', id: 's', spec: { name: 's', value: 'x' } });
    const operations = linesOf(line.trimEnd());
    expect(stored(operations, { owner: 'shop' })).to.equal('{"id":"s","name":"s","owner":"shop","value":"x"}');
  });

  it('are read as earlier programs wrote them, with the condition behind the entity', () => {
    const line = '{"op":"update","kind":"secrets","by":"id","id":"s","spec":{"name":"s","value":"y"},"ifMatch":"*"}';
    const [operation] = linesOf(line);
    expect(operation).to.deep.include({ op: 'update', ifMatch: '*' });
    expect(operation?.spec?.json).to.equal('{"name":"s","value":"y"}');
  });

  it('put the entity last and are undefined for what is none', () => {
    const spec = { name: 's', value: ',"spec":{}' };
    const line = operationLine({ op: 'update', kind: 'secrets', by: 'id', id: 's', spec, ifMatch: [1] });
    expect(line).to.match(/"ifMatch":\[1\],"spec":\{"name":"s".*\}\}\n$/);
    const [first, second] = linesOf(line.trimEnd(), '{"op":"update","kind":"secrets","by":"id","id":"s","spec":[]}');
    expect(first?.spec?.fields).to.deep.equal(spec);
    expect(second).to.equal(undefined);
  });

  it('have the text that every node would write, for all names of fields', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 1 }), fc.string(), (fields, id) => {
        const { json } = new SpecText(fields).withId(id);
        expect(json).to.equal(JSON.stringify({ id, ...fields }));
      }),
    );
    for (const fields of [{}, { id: 'b', name: 'c' }, { name: 'a', 7: 'b' }])
      expect(new SpecText(fields).withId('a').json).to.equal(JSON.stringify({ id: 'a', ...fields }));
  });
});
