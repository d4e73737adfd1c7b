import { expect } from 'chai';
import { Feed } from '../../../src/feed/feed.ts';
import { config } from '../../support/proxy-config.ts';

describe('feed', () => {
  it('hands each configuration to every subscriber', () => {
    const feed = new Feed();
    const seen: number[][] = [[], []];
    feed.subscribe(({ index }) => seen[0]?.push(index));
    feed.subscribe(({ index }) => seen[1]?.push(index));
    feed.publish(config({ index: 1 }));
    feed.publish(config({ index: 2 }));
    expect(seen).to.deep.equal([
      [1, 2],
      [1, 2],
    ]);
  });

  it('hands the last configuration, and only that, to a new subscriber at once', () => {
    const feed = new Feed();
    feed.publish(config({ index: 1 }));
    feed.publish(config({ index: 2 }));
    const seen: number[] = [];
    feed.subscribe(({ index }) => seen.push(index));
    expect(seen).to.deep.equal([2]);
    expect(feed.current?.index).to.equal(2);
  });

  it('leaves a subscriber alone that has ended its subscription', () => {
    const feed = new Feed();
    const seen: number[] = [];
    const end = feed.subscribe(({ index }) => seen.push(index));
    end();
    feed.publish(config({ index: 1 }));
    expect(seen).to.deep.equal([]);
  });

  it('serves the others when one subscriber fails, and says so afterwards', () => {
    const feed = new Feed();
    const seen: number[] = [];
    feed.subscribe(() => {
      throw new Error('broken subscriber');
    });
    feed.subscribe(({ index }) => seen.push(index));
    expect(() => feed.publish(config({ index: 1 }))).to.throw(AggregateError);
    expect(seen).to.deep.equal([1]);
  });
});
