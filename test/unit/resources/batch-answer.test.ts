import { expect } from 'chai';
import { rehearsedTexts } from '../../../src/resources/batch/batch-answer.ts';

describe('answer of a dry run of a batch', () => {
  it('is made piece by piece of what would change', () => {
    const kind = 'routes' as const;
    const created = Array.from({ length: 50 }, (_, at) => ({ kind, id: `r${at}`, name: `r${at}` }));
    const changes = [{ pointer: '/name', from: null, to: 'x' }];
    const entities = { created, changed: [{ kind, id: 'a', name: 'a', changes }], deleted: [] };
    const told = { problems: [], warnings: [{ pointer: '/a', message: 'b' }] };
    const pieces = [...rehearsedTexts('"changed":51', entities, told)];
    expect(JSON.parse(pieces.join(''))).to.deep.equal({ changed: 51, entities, ...told });
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.below(100);
  });
});
