// List of mismatches of mirrors over the nodes of a cluster.
import { expect } from 'chai';
import { SluiceError } from '../../../src/errors.ts';
import type { MirrorMismatch } from '../../../src/model/answers/request-answers.ts';
import { mismatchesAnswer, mismatchesOf, type SeenMismatch } from '../../../src/model/mirror-mismatch.ts';
import { MirrorMismatches } from '../../../src/request-log/mirror-mismatches.ts';

const seenAt = (second: number, path = '/'): SeenMismatch => ({
  ...{ time: `2026-03-30T14:22:0${second}.000Z`, method: 'GET', host: 'shop.test', path },
  ...{ route: 'r', routeId: 'r', destination: 'm', result: 'status', pointer: null, header: null },
  ...{ primary: { status: 200, value: null }, mirror: { status: 500, value: null } },
});

describe('mismatches of mirrors', () => {
  const asked: number[] = [];
  const all = new MirrorMismatches({
    node: 'a',
    source: { list: (limit) => [seenAt(5), seenAt(1)].slice(0, limit) },
    async others(limit) {
      asked.push(limit);
      return [
        { node: 'c', mismatches: undefined },
        { node: 'b', mismatches: [seenAt(7), seenAt(3)].slice(0, limit) },
      ];
    },
  });
  const list = async (limit?: string) => {
    const { body, unreachable } = await all.list(limit);
    const found = (JSON.parse(body) as MirrorMismatch[]).map(({ node, time }) => `${node} ${time.slice(18, 19)}`);
    return { found, unreachable };
  };

  it('are those of all nodes, newest first, and name the nodes that do not answer', async () => {
    expect(await list()).to.deep.equal({ found: ['b 7', 'a 5', 'b 3', 'a 1'], unreachable: ['c'] });
    expect(await list('3')).to.deep.equal({ found: ['b 7', 'a 5', 'b 3'], unreachable: ['c'] });
    expect(asked).to.deep.equal([100, 3]);
  });

  it('are those of the process where there are no others', async () => {
    const { body, unreachable } = await new MirrorMismatches({ node: 'p', source: { list: () => [seenAt(1)] } }).list(
      '1',
    );
    expect(JSON.parse(body)).to.deep.equal([{ node: 'p', ...seenAt(1) }]);
    expect(unreachable).to.deep.equal([]);
  });

  it('have a limit from 1 to 10,000', async () => {
    const refused = await all.list('0').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(SluiceError).with.property('code', 'INVALID');
  });

  it('of another node are read as they are sent, and nothing else is taken for them', () => {
    const sent = mismatchesAnswer([seenAt(2), seenAt(1)]);
    expect(mismatchesOf(JSON.parse(JSON.stringify(sent)))).to.deep.equal([seenAt(2), seenAt(1)]);
    for (const bad of [undefined, null, [], {}, { mismatches: 7 }, { mismatches: [7] }, { mismatches: [{ time: 7 }] }])
      expect(mismatchesOf(bad), JSON.stringify(bad)).to.equal(undefined);
  });

  it('are sent as many as another node reads, the newest', () => {
    const long = Array.from({ length: 10 }, () => seenAt(1, `/${'x'.repeat(1 << 20)}`));
    expect(mismatchesAnswer(long).mismatches).to.have.length(3);
  });
});
