// The reader of JSON bodies beside JSON.parse, and the work that it does between two pauses.
import { expect } from 'chai';
import fc from 'fast-check';
import { SluiceError } from '../../../src/errors.ts';
import { keysMax, readJson, sliceBytes } from '../../../src/resources/json-reader.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { refusal } from '../../support/refusal.ts';

const read = (text: string): unknown => drain(readJson(Buffer.from(text)));

/** The value, or undefined for what is no JSON. */
function attempt<T>(run: () => T): { readonly value: T } | undefined {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof SluiceError) return undefined;
    throw error;
  }
}

/** Returns the number of pauses, and the code of the refusal. */
function walk(bytes: Buffer): { readonly pauses: number; readonly code: string | undefined } {
  const steps = readJson(bytes);
  let pauses = 0;
  try {
    while (!steps.next().done) pauses += 1;
  } catch (error) {
    if (error instanceof SluiceError) return { pauses, code: error.code };
    throw error;
  }
  return { pauses, code: undefined };
}

const members = (count: number, value = '1'): string =>
  Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(',');

describe('JSON reader', () => {
  const options = { numRuns: 2_000, seed: 31 };

  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: anyCharacter }), fc.nat(3), (text, indent) => {
        const value: unknown = JSON.parse(text);
        if (text.includes('__proto__')) return;
        const written = JSON.stringify(value, null, indent);
        expect(read(text)).to.deep.equal(value);
        expect(JSON.stringify(read(written))).to.equal(JSON.stringify(value));
      }),
      options,
    );
  });

  it('refuses what JSON.parse refuses, and reads the rest alike', () => {
    const noise = fc.string({
      unit: fc.constantFrom(...'{}[]",:\\/ \n\t\u0001-+.eE0123456789truefalsn\u00fc\u{1f600}u'),
    });
    const mutated = fc
      .tuple(fc.json({ maxDepth: 4 }), noise, fc.nat(), fc.nat(6))
      .map(([text, inserted, place, removed]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + inserted + text.slice(at + removed);
      });
    fc.assert(
      fc.property(fc.oneof(noise, mutated), (text) => {
        const theirs = attempt(() => JSON.parse(text) as unknown);
        const ours = attempt(() => read(text));
        if (theirs === undefined) expect(ours, text).to.equal(undefined);
        else if (ours !== undefined) expect(ours, text).to.deep.equal(theirs);
        else expect(/__proto__|\\u[dD][89a-fA-F]|[0-9]{3}|[eE]/.test(text), text).to.equal(true);
      }),
      { ...options, numRuns: 10_000 },
    );
  });

  it('reads the same wherever the pause falls', () => {
    const text = '{"a\\u0062 \\ud83d\\ude00 ü":[-12.5e+3,true,{"":null},"\\\\","\\n€"],"b":{},"c":[[],false]}';
    const value: unknown = JSON.parse(text);
    for (let before = 0; before <= Buffer.byteLength(text); before++) {
      expect(read(' '.repeat(sliceBytes - before) + text), String(before)).to.deep.equal(value);
    }
  });

  it('pauses after each slice, of elements, members, texts and numbers alike', () => {
    const bodies = {
      numbers: `[${'1,'.repeat(500_000)}1]`,
      texts: `[${'"a",'.repeat(250_000)}"a"]`,
      'a long text': `["${'\\n'.repeat(500_000)}"]`,
      blanks: `[${' '.repeat(1_000_000)}]`,
      members: `{${members(keysMax)}}`,
      'lists and objects': `[${'[],'.repeat(keysMax / 2 - 1)}${'{},'.repeat(keysMax / 2 - 1)}[]]`,
    };
    for (const [what, text] of Object.entries(bodies)) {
      const { pauses, code } = walk(Buffer.from(text));
      expect(code, what).to.equal(undefined);
      expect(pauses, what).to.equal(Math.floor((text.length - 1) / sliceBytes));
    }
  });

  it('refuses more than 20,000 keys, objects or lists without reading on', () => {
    const half = members(keysMax / 2);
    const [a, b] = [`{"a":{${half}},`, `"b":{${half}}}`];
    for (const [text, part] of [
      [`{${members(2_500_000)}}`, 20_001 * 12],
      [`[${`{"a":1},`.repeat(500_000)}1]`, 20_001 * 8],
      [`[${'[],'.repeat(500_000)}1]`, 20_001 * 3],
      [a + b, (a + b).length],
    ] as const) {
      const { pauses, code } = walk(Buffer.from(text));
      expect(code).to.equal('TOO_MANY_KEYS');
      expect(pauses).to.be.most(Math.ceil(part / sliceBytes));
    }
    expect(read(`{${members(keysMax)}}`)).to.have.property('k19999', 1);
    const error = refusal(() => read(`{${members(keysMax + 1)}}`));
    expect(error).to.include({ status: 413, message: 'body holds more than 20000 keys of objects' });
  });

  it('does not count elements of lists', () => {
    const list = Array.from({ length: 200_000 }, (_, at) => `h${at}.example`);
    expect(read(JSON.stringify({ hostnames: list }))).to.deep.equal({ hostnames: list });
  });
});
