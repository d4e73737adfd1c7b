import { expect } from 'chai';
import { contentOf } from '../../../src/model/entity-content.ts';

describe('the content of an entity', () => {
  it('leaves out owner and labels, and nothing else', () => {
    const entity = { id: 'a', name: 'a', host: 'h' };
    const plain = contentOf(entity);
    expect(contentOf({ ...entity, owner: 'shop', labels: { env: 'test' } } as typeof entity)).to.equal(plain);
    expect(contentOf({ ...{ id: 'a', name: 'a', owner: 'pay' }, ...{ host: 'h' } })).to.equal(plain);
    expect(contentOf({ ...entity, ...{ host: 'other' } })).not.to.equal(plain);
  });
});
