import { expect } from 'chai';
import { Incremental } from '../../../src/controller/graph/incremental.ts';

describe('incremental computation', () => {
  it('computes a cell again only when something that it read is different', () => {
    const graph = new Incremental();
    const sum = () => graph.cell('sum', () => (graph.read<number>('a') ?? 0) + (graph.read<number>('b') ?? 0));
    graph.set('a', 1);
    expect(sum()).to.equal(1);
    graph.set('c', 5);
    expect(sum()).to.equal(1);
    expect(graph.computed).to.equal(1);
    graph.set('b', 2);
    expect(sum()).to.equal(3);
    expect(graph.computed).to.equal(2);
  });

  it('leaves the readers of a cell alone whose result is the same', () => {
    const graph = new Incremental();
    const parity = () => graph.cell('parity', () => (graph.read<number>('a') ?? 0) % 2);
    const text = () => graph.cell('text', () => `parity ${parity()}`);
    graph.set('a', 1);
    expect(text()).to.equal('parity 1');
    graph.set('a', 3);
    expect(text()).to.equal('parity 1');
    expect(graph.computed, 'parity twice, text once').to.equal(3);
  });

  it('names wanted cells that may be different, however deep the input lies', () => {
    const graph = new Incremental();
    const inner = () => graph.cell('inner', () => graph.read('a'));
    const outer = () => graph.cell('outer', () => [inner()]);
    graph.want('outer');
    expect(graph.takeStale()).to.deep.equal(['outer']);
    outer();
    expect(graph.takeStale()).to.deep.equal([]);
    graph.set('a', 'x');
    expect(graph.takeStale()).to.deep.equal(['outer']);
    expect(outer()).to.deep.equal(['x']);
  });

  it('forgets what a cell read before', () => {
    const graph = new Incremental();
    const choice = () => graph.cell('choice', () => graph.read(graph.read<string>('which') ?? 'none'));
    graph.want('choice');
    graph.set('which', 'a');
    choice();
    graph.set('which', 'b');
    choice();
    graph.takeStale();
    graph.set('a', 1);
    expect(graph.takeStale()).to.deep.equal([]);
    expect(graph.isRead('a')).to.equal(false);
    graph.drop('choice');
    expect(graph.isRead('b')).to.equal(false);
  });

  it('tells a failure of a cell to all that ask for it, and computes its readers again when it is mended', () => {
    const graph = new Incremental();
    const inner = () =>
      graph.cell('inner', () => {
        const value = graph.read<string>('a');
        if (value === 'bad') throw new Error('a is bad');
        return value;
      });
    const outer = () => graph.cell('outer', () => `of ${inner()}`);
    for (const key of ['outer', 'inner']) graph.want(key);
    graph.set('a', 'bad');
    graph.takeStale();
    // The reader is asked first: the cell itself has no result all the same.
    for (const each of [outer, inner, outer, inner]) expect(each).to.throw('a is bad');
    graph.set('a', 'good');
    expect(graph.takeStale()).to.have.members(['inner', 'outer']);
    expect([outer(), inner()]).to.deep.equal(['of good', 'good']);
    graph.set('a', 'bad');
    expect(outer(), 'as it was').to.equal('of good');
    expect(inner).to.throw('a is bad');
    graph.set('a', 'better');
    expect([outer(), inner()]).to.deep.equal(['of better', 'better']);
  });

  it('refuses a cell that depends on itself', () => {
    const graph = new Incremental();
    const loop = (): unknown => graph.cell('loop', loop);
    expect(loop).to.throw('loop depends on itself');
  });
});
