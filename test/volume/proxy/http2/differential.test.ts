// A small part, with a fixed seed, of what `npm run fuzz:http2` does at length (test/fuzz/http2). SEED picks other streams
// and RUNS more of them.
import { expect } from 'chai';
import { fuzzHeaderBlocks } from '../../../fuzz/http2/header-blocks.ts';
import { fuzzRequests, Keeping } from '../../../fuzz/http2/requests.ts';
import { fuzzResponses } from '../../../fuzz/http2/responses.ts';
import { nodeWriting } from '../../../support/node-http2.ts';

const seed = Number(process.env.SEED ?? 1);
const runs = Number(process.env.RUNS ?? 300);

describe('HTTP/2 beside Node’s own', () => {
  it('reads what a client of Node’s writes, Huffman and table included', async () => {
    const headers = (path: string, more: Record<string, string> = {}) => ({
      ':path': path,
      'user-agent': 'node/oracle',
      ...more,
    });
    const bytes = await nodeWriting([
      { headers: headers('/a?b=c', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }) },
      { headers: headers('/a?b=c', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', cookie: 'a=b; c=d' }) },
      { headers: { ...headers('/upload', { 'content-length': '5' }), ':method': 'POST' }, body: 'hello' },
    ]);
    const bed = new Keeping();
    bed.arrive(bytes, 11);
    expect(
      [...bed.requests.values()].map(({ fields, body, ended }) => [fields.split('\n')[2], body.length, ended]),
    ).to.deep.equal([
      ['/a?b=c', 0, true],
      ['/a?b=c', 0, true],
      ['/upload', 5, true],
    ]);
    expect(bed.requests.get(3)?.fields).to.include(
      'accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\ncookie: a=b; c=d',
    );
  });

  it(`reads no request that Node reads otherwise (SEED=${seed} RUNS=${runs})`, async function () {
    this.timeout(60_000 + runs * 500);
    let read = 0;
    for (let run = 0; run < runs; run++) {
      const { finding, read: more } = await fuzzRequests(seed, run);
      expect(finding, `run ${run}`).to.equal(undefined);
      read += more;
    }
    expect(read).to.be.greaterThan(runs);
  });
});

describe('an HTTP/2 upstream that sends random frames', () => {
  it(`ends streams or its connection, and nothing else (SEED=${seed} RUNS=${runs})`, () => {
    let ended = 0;
    for (let run = 0; run < runs * 3; run++) {
      const { finding, ended: more } = fuzzResponses(seed, run);
      expect(finding, `run ${run}`).to.equal(undefined);
      ended += more;
    }
    expect(ended).to.be.greaterThan(runs);
  });
});

describe('HPACK beside a slow decoder', () => {
  it(`reads the same, and refuses the same (SEED=${seed} RUNS=${runs})`, () => {
    let fields = 0;
    for (let run = 0; run < runs; run++) {
      const { finding, looked } = fuzzHeaderBlocks(seed, run);
      expect(finding, `run ${run}`).to.equal(undefined);
      fields += looked;
    }
    expect(fields).to.be.greaterThan(runs * 5);
  });
});
