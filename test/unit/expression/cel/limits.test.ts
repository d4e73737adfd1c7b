import { expect } from 'chai';
import { checkCel, compileCel, type Decision } from '../../../../src/expression/cel/compiled-program.ts';
import { leastCpuMs } from '../../../support/cpu-time.ts';
import { aRequest } from './request-facts.ts';

const refused: readonly (readonly [what: string, source: string])[] = [
  ['10,000 nested parentheses', `${'('.repeat(4000)}true${')'.repeat(4000)}`],
  ['a text of a megabyte', `request.path == "${'a'.repeat(1_000_000)}"`],
  ['a list of 600 items', `request.path in [${Array.from({ length: 600 }, () => '"a"').join(',')}]`],
  ['a chain of 1,200 terms', Array.from({ length: 1200 }, () => 'true').join('||')],
  ['a run of 5,000 negations', `${'!'.repeat(5000)}true`],
  ['400 open parentheses', '('.repeat(400)],
  ['nine arguments', 'size(1,2,3,4,5,6,7,8,9) > 0'],
  ['three loops inside each other', '[1].all(a, [1].all(b, [1].all(c, true)))'],
];

const heavy = { items: Array.from({ length: 3000 }, (_, i) => `item-${i}`) };

const bounded: readonly (readonly [what: string, source: string])[] = [
  ['two loops over what a client sent', 'request.body.json.items.all(a, request.body.json.items.all(b, a != b + "x"))'],
  [
    'a list compared in a loop',
    'request.body.json.items.exists(a, request.body.json.items.map(b, b) != request.body.json.items)',
  ],
  [
    'text that doubles in cel.bind',
    `${Array.from({ length: 20 }, (_, i) => `cel.bind(v${i}, ${i ? `v${i - 1} + v${i - 1}` : 'request.body.raw'}, `).join('')}v19.contains("z")${')'.repeat(20)}`,
  ],
  ['text that doubles in map', `[request.body.raw]${'.map(t, t + t)'.repeat(40)}.exists(t, t.contains("z"))`],
  [
    'replacement that explodes',
    'request.body.raw.replace("", request.body.raw).replace("", request.body.raw).size() > 0',
  ],
  ['split and join', 'request.body.raw.split("").join(request.body.raw).size() > 0'],
];

/** Searches, conversions and comparisons of texts that a client chose, each with a worst case of its own. */
const long: readonly (readonly [what: string, source: string, headers: Readonly<Record<string, string>>])[] = [
  [
    'a search that compares half of the text at each place',
    'request.headers["a"].contains(request.headers["b"])',
    { a: 'a'.repeat(500_000), b: `${'a'.repeat(125_000)}b${'a'.repeat(125_000)}` },
  ],
  [
    'the same from the end',
    'request.headers["a"].lastIndexOf(request.headers["b"]) > 0',
    { a: 'a'.repeat(200_000), b: `${'a'.repeat(50_000)}b` },
  ],
  [
    'a search with replace and split',
    'request.headers["a"].replace(request.headers["b"], "").split(request.headers["b"]).size() == 1',
    { a: 'a'.repeat(200_000), b: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}` },
  ],
  [
    'a pattern that no automaton of a bounded size stands for',
    'request.headers["a"].matches("a[ab]{500}[cd]")',
    { a: Array.from({ length: 60_000 }, (_, i) => 'ab'[((i * i) % 7) & 1]).join('') },
  ],
  [
    'a comparison within a loop',
    `[${'1,'.repeat(200)}1].all(x, [1].all(y, request.headers["a"] == request.headers["b"]))`,
    { a: 'a'.repeat(500_000), b: 'a'.repeat(500_000) },
  ],
  [
    'an order of texts within a loop',
    `[${'1,'.repeat(200)}1].all(x, request.headers["a"] <= request.headers["b"])`,
    { a: 'a'.repeat(500_000), b: 'a'.repeat(500_000) },
  ],
  [
    'texts put together within a loop',
    `[${'1,'.repeat(400)}1].all(x, (request.headers["a"] + "b") != "")`,
    { a: 'a'.repeat(500_000) },
  ],
  [
    'bytes that double in cel.bind',
    `${Array.from({ length: 20 }, (_, i) => `cel.bind(v${i}, ${i ? `v${i - 1} + v${i - 1}` : 'bytes(request.headers["a"])'}, `).join('')}size(v19) > 0${')'.repeat(20)}`,
    { a: 'a'.repeat(10_000) },
  ],
];

describe('a hostile expression', () => {
  before(() => checkCel('request.path == "warm"', 'request', 'bool'));

  for (const [what, source] of refused) {
    it(`costs little to refuse: ${what}`, () => {
      let message: string | undefined;
      expect(leastCpuMs(() => (message = checkCel(source, 'request', 'bool')))).to.be.below(50);
      expect(message).to.match(/^cel: /);
    });
  }

  for (const [what, source] of bounded) {
    it(`is exhausted after little work: ${what}`, () => {
      const program = compileCel(source, 'request', 'bool');
      const view = aRequest({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(heavy) });
      let result: Decision | undefined;
      expect(leastCpuMs(() => (result = program.decide(view)))).to.be.below(50);
      expect(result).to.equal('exhausted');
    });
  }

  for (const [what, source, headers] of long) {
    it(`takes steps by the length of its inputs: ${what}`, () => {
      const program = compileCel(source, 'request', 'bool');
      const view = aRequest({ headers });
      let result: Decision | undefined;
      expect(leastCpuMs(() => (result = program.decide(view)))).to.be.below(100);
      expect(result).to.equal('exhausted');
    });
  }

  it('reads no number for longer than its digits', () => {
    const program = compileCel('double(request.headers["a"]) > 1.0', 'request', 'bool');
    const view = aRequest({ headers: { a: `${'1'.repeat(60_000)}x` } });
    let result: Decision | undefined;
    expect(leastCpuMs(() => (result = program.decide(view)))).to.be.below(50);
    expect(result).to.equal('error');
  });

  it('is exhausted whichever failure comes out of it', () => {
    const view = aRequest({ headers: { a: 'a/'.repeat(20_000) } });
    const decided = (source: string) => compileCel(source, 'request', 'bool').decide(view);
    const heavyLoop = 'request.headers["a"].split("/").exists(p, [1,2,3,4,5,6,7,8].exists(x, p == "zz"))';
    expect(decided(heavyLoop)).to.equal('exhausted');
    expect(decided(`request.headers["none"] == "a" || ${heavyLoop}`)).to.equal('exhausted');
    expect(decided(`${heavyLoop} || request.headers["none"] == "a"`)).to.equal('exhausted');
    expect(decided(`!(${heavyLoop})`)).to.equal('exhausted');
    expect(decided(`${heavyLoop} || true`), 'decided by the other side').to.equal(true);
    expect(decided('request.headers["none"] == "a"')).to.equal('error');
  });

  it('may be as long as 8,192 characters', () => {
    const filled = (length: number) => `request.path == "${'a'.repeat(length - 18)}"`;
    expect(checkCel(filled(8192), 'request', 'bool')).to.equal(undefined);
    expect(checkCel(filled(8193), 'request', 'bool')).to.equal('cel: longer than 8192 characters');
  });

  it('runs when it is the longest legal chain', () => {
    const source = Array.from({ length: 330 }, () => 'request.path == "/b"')
      .join('||')
      .slice(0, 8170);
    const whole = source.slice(0, source.lastIndexOf('||'));
    expect(checkCel(whole, 'request', 'bool')).to.satisfy((m?: string) => m === undefined || /maxAstNodes/.test(m));
    const short = Array.from({ length: 190 }, () => 'request.path == "/b"').join('||');
    expect(compileCel(short, 'request', 'bool').decide(aRequest({ path: '/b' }))).to.equal(true);
  });
});
