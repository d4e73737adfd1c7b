// Lists that nothing but the size of a body limits, read in steps.
import { expect } from 'chai';
import { Group } from '../../../src/model/group.ts';
import { elementsAtATime } from '../../../src/model/long-list.ts';
import { Route } from '../../../src/model/route.ts';
import type { Class } from '../../../src/model/schema.ts';
import { type ParsedEntity, parseInSteps } from '../../../src/model/validation.ts';

function walk(cls: Class, json: unknown): ParsedEntity & { readonly pauses: number } {
  const steps = parseInSteps(cls, json);
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done) return { ...value, pauses };
  }
}

const count = 100_000;
const hosts = Array.from({ length: count }, (_, at) => `h${at}.example`);

describe('a long list', () => {
  it('of host names is read whole, with a pause after every thousand elements', () => {
    const group = { name: 'g', routeIds: [], hostnames: hosts };
    const read = walk(Group, group);
    expect(read.problems).to.deep.equal([]);
    expect(read.entity).to.deep.equal(group);
    expect(read.pauses).to.equal(count / elementsAtATime);
    const match = { hostnames: hosts };
    const route = { name: 'r', match, directResponse: { status: 204 } };
    const inner = walk(Route, route);
    expect(inner.entity).to.deep.include({ match });
    expect(inner.pauses).to.equal(count / elementsAtATime);
  });

  it('keeps each route once, in the order of the first', () => {
    const ids = Array.from({ length: count }, (_, at) => `r${at % 5_000}`);
    const { entity } = walk(Group, { name: 'g', routeIds: ids });
    expect(entity).to.deep.include({ routeIds: ids.slice(0, 5_000) });
  });

  it('names what is wrong with its elements, as a short one does', () => {
    const wrong = (length: number) => {
      const hostnames: unknown[] = hosts.slice(0, length);
      hostnames[2] = 7;
      hostnames[length - 1] = 'a host';
      return walk(Group, { name: '', hostnames });
    };
    const short = wrong(500);
    const long = wrong(50_000);
    expect(long.entity).to.deep.equal({});
    const texts = ({ problems }: ParsedEntity) => problems.map(({ message }) => message).sort();
    expect(texts(long)).to.deep.equal(texts(short));
    const pointers = long.problems.map(({ pointer }) => pointer);
    expect(pointers).to.include.members(['/name', '/hostnames/2', '/hostnames/49999']);
  });

  it('stops at a hundred problems', () => {
    const { problems, pauses } = walk(Group, { name: 'g', hostnames: Array(count).fill('') });
    expect(problems).to.have.length(100);
    expect(pauses).to.equal(0);
  });
});
