import { expect } from 'chai';
import { configKinds } from '../../../src/model/kinds.ts';
import type { Configuration } from '../../../src/model/proxy-config.ts';
import { EntityPacker, EntityUnpacker, type PackedEntities } from '../../../src/proxy/worker/packed-entities.ts';
import { drain } from '../../../src/state/slices.ts';
import { seededRandom } from '../../support/random.ts';
import { aRoute, configurationOf } from '../../support/routing.ts';

function unpacked(packed: PackedEntities) {
  const unpacker = new EntityUnpacker(packed);
  let next = 0;
  return Object.fromEntries(
    configKinds.map((kind) => [kind, Array.from({ length: packed.counts[kind] }, () => unpacker.text(next++))]),
  );
}

const written = (configuration: Configuration) =>
  Object.fromEntries(configKinds.map((kind) => [kind, configuration[kind].map((entity) => JSON.stringify(entity))]));

describe('packed entities', () => {
  it('read as they were, along random changes, whatever was packed before', () => {
    const random = seededRandom(3);
    const packer = new EntityPacker();
    let routes = Array.from({ length: 40 }, (_, at) => aRoute(`r${at}`, { pathPrefix: `/größe/${at}` }));
    for (let step = 0; step < 50; step++) {
      routes = routes
        .filter(() => random() > 0.1)
        .concat(aRoute(`new-${step}`, { pathPrefix: '/🙂'.repeat(step % 4) }));
      const configuration = configurationOf({ routes });
      expect(unpacked(drain(packer.pack(configuration)))).to.deep.equal(written(configuration));
    }
  });

  it('have the same hash when their text is the same, and another when it is not', () => {
    const packed = drain(new EntityPacker().pack(configurationOf({ routes: [aRoute('a'), aRoute('b')] })));
    const again = drain(new EntityPacker().pack(configurationOf({ routes: [aRoute('b'), aRoute('c')] })));
    const [first, second] = [new EntityUnpacker(packed), new EntityUnpacker(again)];
    expect(first.hash(1)).to.equal(second.hash(0)).and.not.to.equal(first.hash(0));
    expect(second.hash(1)).to.have.lengthOf(32).and.not.to.equal(first.hash(0));
  });

  it('are written once, however often they are packed', () => {
    let writings = 0;
    const counted = { ...aRoute('a'), toJSON: () => ({ id: 'a', writing: ++writings }) };
    const packer = new EntityPacker();
    const texts = [1, 2, 3].map((at) => {
      const routes = [aRoute(`other-${at}`), counted];
      return new EntityUnpacker(drain(packer.pack(configurationOf({ routes })))).text(1);
    });
    expect(texts).to.deep.equal(Array(3).fill('{"id":"a","writing":1}'));
  });
});
