// Writer of protocol buffers compared with the reader of protobufjs.
import { expect } from 'chai';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { MessageWriter } from '../../../../src/telemetry/traces/protobuf-writer.ts';
import { anyText } from '../../../support/any-text.ts';

const message = protobuf
  .parse(
    `syntax = "proto3";
    message Node { string text = 1; int64 number = 2; double real = 3; fixed32 flags = 4; fixed64 time = 5; bytes id = 6; repeated Node parts = 16; }`,
  )
  .root.lookupType('Node');

interface Node {
  readonly text: string;
  readonly number: number;
  readonly real: number;
  readonly flags: number;
  readonly time: readonly [number, number];
  readonly id: string;
  readonly parts: readonly Node[];
}

const withParts = (parts: fc.Arbitrary<readonly Node[]>): fc.Arbitrary<Node> =>
  fc.record({
    text: fc.oneof(anyText(60), fc.string({ maxLength: 300 })),
    number: fc.maxSafeInteger(),
    real: fc.double({ noNaN: true }),
    flags: fc.nat({ max: 0x7fffffff }),
    time: fc.tuple(fc.nat({ max: 2 ** 31 - 1 }), fc.nat({ max: 999_999_999 })),
    id: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    parts,
  });
const leaf = withParts(fc.constant([]));
const branch = withParts(fc.array(leaf, { maxLength: 3 }));
const tree = withParts(fc.array(branch, { maxLength: 2 }));

function write(out: MessageWriter, node: Node): void {
  out.text(1, node.text);
  out.integer(2, node.number);
  out.double(3, node.real);
  out.fixed32(4, node.flags);
  out.nanos(5, node.time[0], node.time[1]);
  out.hex(6, node.id);
  for (const part of node.parts) {
    const start = out.begin(16);
    write(out, part);
    out.end(start);
  }
}

const plain = (node: Node): object => ({
  text: Buffer.from(node.text, 'utf8').toString('utf8'),
  number: String(node.number),
  real: node.real,
  flags: node.flags,
  time: String(BigInt(node.time[0]) * 1_000_000_000n + BigInt(node.time[1])),
  id: node.id,
  parts: node.parts.map(plain),
});

function read(bytes: Uint8Array): object {
  const options = { longs: String, bytes: Buffer, arrays: true, defaults: true };
  const named = (found: Record<string, unknown>): object => ({
    ...found,
    id: Buffer.from(found.id as Uint8Array).toString('hex'),
    parts: (found.parts as Record<string, unknown>[]).map(named),
  });
  return named(message.toObject(message.decode(bytes), options));
}

describe('messages of protocol buffers', () => {
  it('are read as they were written, at any length', () => {
    const out = new MessageWriter();
    fc.assert(
      fc.property(tree, (node) => {
        write(out, node);
        expect(read(out.take())).to.deep.equal(plain(node));
      }),
    );
  });

  it('may be longer than what was there for them', () => {
    const out = new MessageWriter();
    const part = {
      text: 'ä'.repeat(9_000),
      number: -1,
      real: 0.5,
      flags: 7,
      time: [1, 2],
      id: 'ff00',
      parts: [],
    } as const;
    const node: Node = { ...part, parts: [part, part, part] };
    write(out, node);
    expect(read(out.take())).to.deep.equal(plain(node));
    expect(out.take().length).to.equal(0);
  });

  it('a short pair is what it is when it is written piece by piece, or is not written', () => {
    const key = Uint8Array.of(10, 1, 107);
    const text = fc.oneof(fc.string({ maxLength: 140 }), anyText(140));
    fc.assert(
      fc.property(text, (value) => {
        const slow = new MessageWriter();
        const pair = slow.begin(9);
        slow.raw(key);
        const inner = slow.begin(2);
        slow.text(1, value);
        slow.end(inner);
        slow.end(pair);
        const expected = slow.take();
        const fast = new MessageWriter();
        const isShort = fast.shortPair(9, key, value);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII has them
        expect(isShort).to.equal(/^[\x00-\x7f]*$/.test(value) && expected.length < 130);
        expect(fast.take()).to.deep.equal(isShort ? expected : new Uint8Array());
      }),
    );
  });
});
