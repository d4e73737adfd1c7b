// Places in the sources where a bug can be planted: a comparison, a condition or a step by one that becomes another one.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Site {
  /** Path below the root of the tree. */
  readonly file: string;
  /** Offset in characters. */
  readonly at: number;
  readonly found: string;
  readonly planted: string;
  /** Line of the file, from 1 on. */
  readonly line: number;
}

export interface Area {
  readonly folder: string;
  /** Files of the folder. Default: all. */
  readonly files?: readonly string[];
  /** Tests of the area, and those of its users for a bug that the first let pass. */
  readonly tests: readonly (readonly string[])[];
}

export const areas: readonly Area[] = [
  {
    folder: 'src/model',
    tests: [
      ['test/unit/model/*.test.ts', 'test/volume/model/*.test.ts'],
      ['test/unit/{settings,state,snapshot,resources,findings,fleet,request-log,command-line}/**/*.test.ts'],
      [
        'test/unit/proxy/{match,policies,middleware,compile}/**/*.test.ts',
        'test/api/{findings,fleet,rollouts}.test.ts',
      ],
    ],
  },
  {
    folder: 'src/proxy/match',
    tests: [['test/unit/proxy/match/*.test.ts'], ['test/unit/proxy/{compile,explain}/*.test.ts']],
  },
  {
    folder: 'src/proxy/forward',
    tests: [
      ['test/unit/proxy/forward/*.test.ts'],
      ['attempt-limit', 'retries', 'destination-weights', 'shares', 'timeouts', 'connections'].map(
        (name) => `test/unit/proxy/policies/${name}.test.ts`,
      ),
      ['test/unit/proxy/{forward,policies,upstream}/**/*.test.ts', 'test/unit/proxy/early-answers.test.ts'],
    ],
  },
  {
    folder: 'src/proxy/forward/mirror',
    tests: [
      [
        'test/unit/proxy/forward/mirror/*.test.ts',
        'test/unit/proxy/policies/{mirror-compare,mirror,several-mirrors}.test.ts',
      ],
      ['test/volume/held-bytes.test.ts', 'test/unit/proxy/metrics/upstream-counts.test.ts'],
    ],
  },
  {
    folder: 'src/findings',
    tests: [
      [
        'test/unit/findings/{planted-faults,rule-conditions}.test.ts',
        'test/volume/findings/unreachable-route.test.ts',
        'test/unit/docs/findings.test.ts',
      ],
      ['test/api/findings*.test.ts'],
    ],
  },
  {
    folder: 'src/findings/rules',
    tests: [
      ['test/unit/findings/{planted-faults,rule-conditions}.test.ts', 'test/unit/docs/findings.test.ts'],
      [
        'test/unit/findings/large-tables.test.ts',
        'test/volume/findings/unreachable-route.test.ts',
        'test/api/findings*.test.ts',
      ],
    ],
  },
  {
    folder: 'src/proxy/replay',
    tests: [['test/unit/proxy/replay/*.test.ts', 'test/volume/proxy/replay/*.test.ts'], ['test/api/diff.test.ts']],
  },
  {
    folder: 'src/proxy/shadow',
    tests: [['test/unit/proxy/shadow/*.test.ts'], ['test/threads/proxy/shadow.test.ts']],
  },
  {
    folder: 'src/resources/diff',
    tests: [
      ['test/unit/resources/configuration-difference.test.ts'],
      ['test/api/{diff,activation-diff,impact-command}.test.ts'],
    ],
  },
  {
    folder: 'src/command-line/commands',
    files: ['blame-command.ts'],
    tests: [['test/api/blame-command.test.ts']],
  },
  {
    folder: 'src/state',
    tests: [
      ['test/unit/state/*.test.ts', 'test/volume/state/*.test.ts'],
      ['test/unit/{cluster,snapshot,resources}/**/*.test.ts'],
    ],
  },
];

const root = new URL('../../', import.meta.url);

const planted: Readonly<Record<string, string>> = {
  ' < ': ' <= ',
  ' <= ': ' < ',
  ' > ': ' >= ',
  ' >= ': ' > ',
  ' === ': ' !== ',
  ' !== ': ' === ',
  ' && ': ' || ',
  ' || ': ' && ',
  ' + 1': ' - 1',
  ' - 1': ' + 1',
  'return true': 'return false',
  'return false': 'return true',
  'if (!': 'if (',
};
const operator = / [<>]=? | [!=]== | && | \|\| | [+-] 1\b|return (?:true|false)\b|if \(!/g;
/** Files whose classes are compiled by another tool before they are loaded. */
const decorated = /(?:^|[\s{(,;])@[A-Z]\w*\(/;
/** Comments, imports and types, in which nothing is executed. */
const idle = /^\s*(?:\/\/|\/?\*|import |export (?:interface|type) |interface |type |readonly \w+\??:)/;

/** Lines with a planted bug that changes nothing that a caller can see, each with the reason. */
const equivalents: Readonly<Record<string, readonly (readonly [line: string, why: string])[]>> = {
  'src/proxy/shadow/candidate-shadow.ts': [
    ['if (shadowSample > 1) this.#skip', 'of a sample of all requests none is skipped'],
  ],
  'src/proxy/shadow/chain-decision.ts': [
    ['for (let slot = 0; slot < links.length; slot++)', 'the place behind the last has no link, which ends it'],
  ],
  'src/proxy/forward/destination-choice.ts': [
    ['for (let i = 0; i < shares.length; i++)', 'the place behind the last has no share, which is not eligible'],
  ],
  'src/resources/diff/changed-values.ts': [
    ['if (at % stride === 0) yield;', 'pauses come behind other entities, and the result is the same'],
  ],
  'src/resources/diff/configuration-difference.ts': [
    ['for (let at = 0; at < Math.max(1, to.length);', 'the part behind the last is empty'],
    ['one === other || isSame(one, other)', 'versions that are alike have no changes, and are left out to spare time'],
  ],
  'src/findings/rules/no-consumer.ts': [['if (entry.chain.length > 0)', 'nothing is found in an empty chain']],
  'src/findings/rules/unreachable-route.ts': [
    ["if (type === 'exact' && exact.get(text))", 'no list has a path that is not known'],
    ["for (let dot = text.indexOf('.', 1); dot > 0;", 'a point is looked for from the second character on'],
  ],
  'src/proxy/match/hash-slots.ts': [
    ['Math.imul(seed + 1, 0x9e3779b1) ^ salt', 'any seeds that differ do'],
    ['Math.ceil(Math.log2(2 * expected + 1))', 'it grows one entry earlier or later'],
    ['if (2 * (this.#used + 1) > this.#mask + 1)', 'it grows one entry earlier or later'],
  ],
  'src/proxy/match/routing-table.ts': [
    ['for (let place = low; place < entries.length; place++)', 'the place behind the last has no entry, which ends it'],
  ],
  'src/proxy/match/entry-index.ts': [
    ['if (better < this.#firstPattern ||', 'no pattern comes before the first, so that looking finds none'],
  ],
};

/** Sites of the files of a folder, without those below it. */
export function sitesOf({ folder, files }: Area): Site[] {
  const all = readdirSync(new URL(folder, root)).filter((name) => name.endsWith('.ts') && name !== 'shapes.ts');
  const names = all.filter((name) => files?.includes(name) ?? true);
  return names.flatMap((name) => {
    const file = `${folder}/${name}`;
    const source = readFileSync(fileURLToPath(new URL(file, root)), 'utf8');
    return decorated.test(source) ? [] : sitesIn(file, source);
  });
}

function sitesIn(file: string, source: string): Site[] {
  const left = equivalents[file] ?? [];
  for (const [line] of left) if (!source.includes(line)) throw new Error(`${file} has no line with ${line}`);
  let start = 0;
  return source.split('\n').flatMap((text, place) => {
    const from = start;
    start += text.length + 1;
    if (idle.test(text) || left.some(([line]) => text.includes(line))) return [];
    const [code = ''] = text.split(' // ');
    return [...code.matchAll(operator)].map(({ 0: found, index }) => ({
      ...{ file, at: from + index, found, planted: planted[found] ?? found, line: place + 1 },
    }));
  });
}
