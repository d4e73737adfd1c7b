import { expect } from 'chai';
import { configKinds } from '../../../src/model/kinds.ts';
import { shapeTable } from '../../../src/model/shape-table.ts';
import { shapes } from '../../../src/model/shapes.ts';
import { classOf } from '../../../src/model/validation.ts';

describe('the table of shapes', () => {
  it('is what the classes say: after a change to a field, run `npm run shapes`', () => {
    expect(shapes).to.deep.equal(shapeTable(configKinds.map((kind) => [kind, classOf[kind]])));
  });
});
