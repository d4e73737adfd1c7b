// HPACK by the examples of RFC 7541, appendix C, and by what an attacker would send instead.
import { expect } from 'chai';
import { FieldBlock } from '../../../../src/proxy/http2/field-block.ts';
import { HpackDecoder } from '../../../../src/proxy/http2/hpack/decoder.ts';
import { HpackEncoder } from '../../../../src/proxy/http2/hpack/encoder.ts';

type Fields = (readonly [string, string])[];

function reading(decoder: HpackDecoder, hex: string): Fields | string {
  const fields: Fields = [];
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  // The block lies amid other bytes, none of which may be looked at.
  const amid = Buffer.concat([Buffer.alloc(3, 0x82), bytes, Buffer.alloc(3, 0x82)]);
  const fault = decoder.decode(amid, 3, 3 + bytes.length, { field: (name, value) => fields.push([name, value]) });
  return fault === '' ? fields : fault;
}

const get = (...more: Fields): Fields => [[':method', 'GET'], ...more];
const first: Fields = get([':scheme', 'http'], [':path', '/'], [':authority', 'www.example.com']);
const second: Fields = [...first, ['cache-control', 'no-cache']];
const third: Fields = get(
  ...([
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ] as Fields),
);
const redirect = (status: string, second: string): Fields => [
  [':status', status],
  ['cache-control', 'private'],
  ['date', `Mon, 21 Oct 2013 20:13:${second} GMT`],
  ['location', 'https://www.example.com'],
];
const withCookie: Fields = [
  ...redirect('200', '22'),
  ['content-encoding', 'gzip'],
  ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
];

describe('HPACK', () => {
  it('reads single fields (C.2)', () => {
    const decoder = new HpackDecoder(4096);
    expect(reading(decoder, '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572')).to.deep.equal([
      ['custom-key', 'custom-header'],
    ]);
    expect(reading(decoder, '040c 2f73 616d 706c 652f 7061 7468')).to.deep.equal([[':path', '/sample/path']]);
    expect(reading(decoder, '1008 7061 7373 776f 7264 0673 6563 7265 74')).to.deep.equal([['password', 'secret']]);
    expect(reading(decoder, '82')).to.deep.equal([[':method', 'GET']]);
    expect(reading(decoder, 'be')).to.deep.equal([['custom-key', 'custom-header']]);
  });

  it('reads requests, with and without Huffman (C.3, C.4)', () => {
    const plain = new HpackDecoder(4096);
    expect(reading(plain, '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d')).to.deep.equal(first);
    expect(reading(plain, '8286 84be 5808 6e6f 2d63 6163 6865')).to.deep.equal(second);
    expect(reading(plain, '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65')).to.deep.equal(
      third,
    );
    const huffman = new HpackDecoder(4096);
    expect(reading(huffman, '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff')).to.deep.equal(first);
    expect(reading(huffman, '8286 84be 5886 a8eb 1064 9cbf')).to.deep.equal(second);
    expect(reading(huffman, '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf')).to.deep.equal(third);
  });

  it('reads responses through a table of 256 bytes that evicts (C.5, C.6)', () => {
    const plain = new HpackDecoder(256);
    const date = '611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32';
    const location = '6e17 6874 7470 733a 2f2f 7777 772e 6578 616d 706c 652e 636f 6d';
    expect(reading(plain, `4803 3330 3258 0770 7269 7661 7465 ${date}31 2047 4d54 ${location}`)).to.deep.equal(
      redirect('302', '21'),
    );
    expect(reading(plain, '4803 3330 37c1 c0bf')).to.deep.equal(redirect('307', '21'));
    const cookie =
      '7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31';
    expect(reading(plain, `88c1 ${date}32 2047 4d54 c05a 0467 7a69 70${cookie}`)).to.deep.equal(withCookie);

    const huffman = new HpackDecoder(256);
    expect(
      reading(
        huffman,
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      ),
    ).to.deep.equal(redirect('302', '21'));
    expect(reading(huffman, '4883 640e ffc1 c0bf')).to.deep.equal(redirect('307', '21'));
    expect(
      reading(
        huffman,
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ),
    ).to.deep.equal(withCookie);
  });

  for (const [what, hex] of [
    ['an index of 0', '80'],
    ['an index beyond both tables', 'be'],
    ['an integer without end', 'ffffffffffffffffff'],
    ['an integer that is cut off', 'ff80'],
    ['a huge integer', 'ff80808080808001'],
    ['a name longer than the block', '400a6375'],
    ['a length of 2 GiB', '00 7f 81ffffff07 61'],
    ['a value that is missing', '4001 61'],
    ['Huffman padding of 8 bits', '0001 61 82 1fff'],
    ['Huffman padding of zeros', '0001 61 81 18'],
    ['EOS within a text', '0001 61 84 ffffffff'],
    ['a table larger than announced', '3fe2 1f'],
    ['a table that changes within a block', '8220'],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(reading(new HpackDecoder(4096), hex)).to.be.a('string');
    });
  }

  it('keeps no entry larger than its table, and forgets all when it is told to', () => {
    const decoder = new HpackDecoder(64);
    expect(reading(decoder, '4001 6101 62')).to.deep.equal([['a', 'b']]);
    expect(reading(decoder, 'be')).to.deep.equal([['a', 'b']]);
    const long = Buffer.alloc(60, 0x61).toString('hex');
    expect(reading(decoder, `4001 61 3c ${long}`)).to.be.an('array');
    expect(reading(decoder, 'be')).to.be.a('string');
    expect(reading(decoder, '4001 6101 62')).to.be.an('array');
    expect(reading(decoder, '20')).to.deep.equal([]);
    expect(reading(decoder, 'be')).to.be.a('string');
  });

  it('reads what it writes', () => {
    const encoder = new HpackEncoder();
    encoder.begin();
    encoder.status(203);
    encoder.status(200);
    encoder.request('DELETE', 'https', 'example.org', '/a?b');
    const long = 'v'.repeat(20_000);
    for (const [name, value] of [
      ['X-Long', long],
      ['Content-Type', 'a/b'],
      ['x-100', 'é'],
      ['x-127', 'w'.repeat(127)],
      ['x-128', 'w'.repeat(255)],
    ] as const)
      encoder.field(name, value);
    const hex = encoder.bytes.toString('hex', 0, encoder.length);
    expect(reading(new HpackDecoder(0), hex)).to.deep.equal([
      [':status', '203'],
      [':status', '200'],
      [':method', 'DELETE'],
      [':scheme', 'https'],
      [':authority', 'example.org'],
      [':path', '/a?b'],
      ['x-long', long],
      ['content-type', 'a/b'],
      ['x-100', 'é'],
      ['x-127', 'w'.repeat(127)],
      ['x-128', 'w'.repeat(255)],
    ]);
  });

  it('reads a block that comes in parts as if it had come at once, wherever it is cut', () => {
    const long = Buffer.alloc(132, 0x63).toString('hex');
    const hex = `3fe107 8286 4003612d62 8cf1e3c2e5f23a6ba0ab90f4ff 000162 7f05${long} be 48826402`;
    const wanted = reading(new HpackDecoder(4096), hex);
    expect(wanted).to.be.an('array');
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second += 7) {
        const decoder = new HpackDecoder(4096);
        const fields: [string, string][] = [];
        const sink = { field: (name: string, value: string) => fields.push([name, value]) };
        decoder.begin();
        let at = 0;
        for (const to of [first, second, bytes.length]) at = decoder.decodePart(bytes, at, to, sink);
        expect(decoder.problem).to.equal('');
        expect(at).to.equal(bytes.length);
        expect(fields).to.deep.equal(wanted);
      }
    }
  });

  it('lets a bomb of indexed fields go off in no memory', () => {
    const decoder = new HpackDecoder(4096);
    const head = new FieldBlock();
    head.begin('request', { fieldBytesMax: 0, linesMax: 128 });
    const entry = Buffer.concat([Buffer.from('40016b7fa11e', 'hex'), Buffer.alloc(4_000, 0x76)]);
    const bomb = Buffer.concat([entry, Buffer.alloc(100_000, 0xbe)]);
    expect(decoder.decode(bomb, 0, bomb.length, head)).to.equal('the block is too large');
    expect(head.excessive).to.equal(true);
    expect(head.tooLarge).to.equal(true);
    expect(head.count).to.be.at.most(128);
  });
});
