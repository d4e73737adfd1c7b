// Shared counts of the threads of a process, and the counts that a crashed thread leaves.
import { expect } from 'chai';
import { UpstreamBook, UpstreamStates } from '../../../../src/proxy/shared/upstream-states.ts';

const wanted = (...ids: string[]) => ids.map((id) => ({ id, endpoints: [`${id}:1`, `${id}:2`] }));

/** A book and the views of two threads. */
function bed() {
  const book = new UpstreamBook(2);
  const views = [new UpstreamStates(2, 0), new UpstreamStates(2, 1)] as const;
  const install = (...ids: string[]) => {
    const rows = book.assign(wanted(...ids));
    for (const view of views) view.adopt(rows);
    book.keep(wanted(...ids));
    return rows;
  };
  return { book, views, install };
}

describe('shared rows', () => {
  it('hold limits for all threads together, and take back what a crashed one held', () => {
    const { book, views, install } = bed();
    install('a');
    const [first, second] = [views[0].destination('a'), views[1].destination('a')];
    expect([first, second, second, first].map((each) => each.openConnection(3))).to.deep.equal([
      true,
      true,
      true,
      false,
    ]);
    first.closeConnection();
    expect(second.openConnection(3)).to.equal(true);
    views[1].endpoint('a', 'a:1').enter();
    second.enter(10);
    second.enterRetry(10);
    book.forget(1);
    expect([first.connections, first.active, first.retries]).to.deep.equal([0, 0, 0]);
    expect(views[0].endpoint('a', 'a:1').inFlight).to.equal(0);
  });

  it('tell a thread that another one waits, and not that it waits itself', () => {
    const { views, install } = bed();
    install('a');
    const [first, second] = [views[0].destination('a'), views[1].destination('a')];
    first.enterQueue(5);
    expect([first.waitedForElsewhere, second.waitedForElsewhere]).to.deep.equal([false, true]);
    first.leaveQueue();
    expect(second.waitedForElsewhere).to.equal(false);
  });

  it('are found again by what stays, and are clean when they are given to something else', () => {
    const { book, views, install } = bed();
    install('a', 'b');
    const kept = views[0].endpoint('a', 'a:2');
    kept.healthy = false;
    views[0].endpoint('b', 'b:1').healthy = false;
    views[0].destination('b').addFailure();
    install('a');
    install('a', 'c');
    expect(views[1].endpoint('a', 'a:2').healthy).to.equal(false);
    expect(views[1].endpoint('c', 'c:1').healthy).to.equal(true);
    expect(views[1].destination('c').failures).to.equal(0);
    expect(book.find('b')).to.equal(undefined);
  });

  it('stay with what a thread still counts in', () => {
    const { book, views, install } = bed();
    install('a', 'b');
    const busy = views[1].destination('b');
    busy.enter(9);
    install('a');
    install('a', 'c');
    expect(book.find('b')?.active).to.equal(1);
    busy.leave();
    install('a', 'c');
    expect(book.find('b')).to.equal(undefined);
  });

  it('are as many as are needed, and no more', () => {
    const { views, install } = bed();
    for (let number = 0; number < 3_000; number++) {
      const rows = install('kept', `passing-${number}`);
      expect(rows.destinationSegments).to.have.length(1);
    }
    const many = install(...Array.from({ length: 2_000 }, (_, i) => `d${i}`));
    expect(many.destinationSegments).to.have.length(4);
    views[1].endpoint('d1999', 'd1999:2').enter();
    expect(views[0].endpoint('d1999', 'd1999:2').inFlight).to.equal(1);
  });
});
