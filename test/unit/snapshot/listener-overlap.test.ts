import { expect } from 'chai';
import { configurationOf } from '../../../src/snapshot/build.ts';
import { overlappingListeners } from '../../../src/snapshot/listener-overlap.ts';
import { staged } from '../../support/staged.ts';

const overlaps = (listeners: Record<string, object>) =>
  overlappingListeners(configurationOf({ entities: staged({ listeners }).entities, values: {} }).listeners);

describe('listeners in each other’s way', () => {
  const taken = (...addresses: readonly (string | undefined)[]) => {
    const listeners = addresses.map((address, at) => [
      `l${at}`,
      { port: 80, ...(address !== undefined && { address }) },
    ]);
    return overlaps(Object.fromEntries(listeners)).map(({ pointer }) => pointer);
  };

  it('are named but the first by id', () => {
    expect(overlaps({ b: { port: 80 }, a: { port: 80 }, c: { port: 81 } })).to.deep.equal([
      {
        pointer: '/listeners/b/port',
        message: 'is taken by listener "a" on the same address; this listener will not open',
      },
    ]);
  });

  const clashes: [string | undefined, string | undefined][] = [
    [undefined, '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '0.0.0.0'],
    ['127.0.0.1', 'localhost'],
    ['::', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '0:0:0:0:0:0:0:1'],
  ];
  for (const [a, b] of clashes) {
    it(`are ${a ?? 'the default'} and ${b}`, () => expect(taken(a, b)).to.deep.equal(['/listeners/l1/port']));
  }

  const neighbours: [string, string][] = [
    ['127.0.0.1', '127.0.0.2'],
    ['0.0.0.0', '::1'],
    ['127.0.0.1', '::1'],
  ];
  for (const [a, b] of neighbours) {
    it(`are not ${a} and ${b}`, () => expect(taken(a, b)).to.deep.equal([]));
  }

  it('do not keep others from opening when they stay closed themselves', () => {
    expect(taken('127.0.0.1', '0.0.0.0', '127.0.0.2')).to.deep.equal(['/listeners/l1/port']);
  });
});
