// Header blocks, right and nearly right, one connection's in a row: the decoder and the slow one beside it read the same
// fields, or refuse the same block.
import { HpackDecoder } from '../../../src/proxy/http2/hpack/decoder.ts';
import { seededRandom } from '../../support/mutation.ts';
import { huffmanText, SlowHpack, written } from '../../support/slow-hpack.ts';
import { damaged } from './damage.ts';
import { type FuzzRun, seedOf } from './findings.ts';

const blocks = 8;

export function fuzzHeaderBlocks(seed: number, run: number): FuzzRun {
  const random = seededRandom(seedOf(seed, run));
  const tableBytes = [0, 64, 256, 4_096][Math.floor(random() * 4)] ?? 0;
  const decoder = new HpackDecoder(tableBytes);
  const slow = new SlowHpack(tableBytes);
  const sent: string[] = [];
  let looked = 0;
  for (let i = 0; i < blocks; i++) {
    const good = blockOf(random, tableBytes);
    const block = random() < 0.2 ? damaged(good, random) : good;
    sent.push(block.toString('hex'));
    const fields: [string, string][] = [];
    // The block lies amid other bytes, none of which may be looked at.
    const amid = Buffer.concat([Buffer.alloc(3, 0x82), block, Buffer.alloc(3, 0x82)]);
    const fault = decoder.decode(amid, 3, 3 + block.length, { field: (name, value) => fields.push([name, value]) });
    const expected = slow.decode(block);
    looked += fields.length;
    if ((fault !== '') !== (expected === undefined))
      return {
        looked,
        finding: `table ${tableBytes}, blocks ${sent.join(' ')}: ours says "${fault}", theirs ${expected}`,
      };
    if (expected === undefined) break;
    if (JSON.stringify(fields) !== JSON.stringify(expected))
      return { looked, finding: `table ${tableBytes}, blocks ${sent.join(' ')}: ${fields} is not ${expected}` };
  }
  return { looked, finding: undefined };
}

function blockOf(random: () => number, tableBytes: number): Buffer {
  const pick = (below: number): number => Math.floor(random() * below);
  const text = (): Buffer => {
    const value = random() < 0.7 ? (words[pick(words.length)] ?? '') : anyText(pick(200), random);
    return random() < 0.5
      ? huffmanText(value)
      : Buffer.concat([written(value.length, 7, 0), Buffer.from(value, 'latin1')]);
  };
  const index = (): number => (random() < 0.95 ? 1 + pick(61) : 62 + pick(3));
  const parts: Buffer[] = [];
  for (let i = pick(3); i > 0 && random() < 0.3; i--) parts.push(written(pick(tableBytes + 1), 5, 0x20));
  for (let i = pick(12); i > 0; i--) {
    const kind = random();
    if (kind < 0.4) parts.push(written(index(), 7, 0x80));
    else {
      const [bits, flags] = (
        [
          [6, 0x40],
          [4, 0],
          [4, 0x10],
        ] as const
      )[pick(3)] ?? [4, 0];
      parts.push(...(random() < 0.5 ? [written(index(), bits, flags)] : [written(0, bits, flags), text()]), text());
    }
  }
  return Buffer.concat(parts);
}

const words = [
  '',
  'a',
  'cookie',
  'x-request-id',
  'text/html; charset=utf-8',
  '/index.html?a=b',
  'GET',
  'w'.repeat(127),
];

const anyText = (length: number, random: () => number): string =>
  Array.from({ length }, () => String.fromCharCode(Math.floor(random() * 256))).join('');
