// PROXY protocol by the rows of its specification (2020-03-05): §2.1 version 1, §2.2 version 2.
import { expect } from 'chai';
import { crc32c } from '../../../../disk/crc32c.ts';
import { type HeaderReading, proxyHeader, readProxyHeader } from '../../../../src/proxy/socket/proxy-header.ts';

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const v2 = (verb: number, family: number, rest: Buffer, length = rest.length): Buffer =>
  Buffer.concat([signature, Buffer.of(verb, family, length >> 8, length & 255), rest]);
const ipv4 = Buffer.from([192, 0, 2, 1, 198, 51, 100, 7, 0x1f, 0x90, 0x01, 0xbb]);
const ipv6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from('20010db8000000000000000000000002', 'hex'),
  Buffer.from([0x1f, 0x90, 0x01, 0xbb]),
]);
const tlv = (type: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.of(type, value.length >> 8, value.length & 255), value]);
const places4 = {
  source: { address: '192.0.2.1', port: 8080 },
  destination: { address: '198.51.100.7', port: 443 },
};
const places6 = {
  source: { address: '2001:db8::1', port: 8080 },
  destination: { address: '2001:db8::2', port: 443 },
};
const line = (text: string): Buffer => Buffer.from(`PROXY ${text}\r\n`, 'latin1');
const longest = 'TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535';
const checked = (): Buffer => {
  const head = v2(0x21, 0x11, Buffer.concat([ipv4, tlv(3, Buffer.alloc(4))]));
  head.writeUInt32BE(crc32c(head) >>> 0, head.length - 4);
  return head;
};
const corrupt = (head: Buffer): Buffer => {
  head.writeUInt8((head.at(-1) ?? 0) ^ 1, head.length - 1);
  return head;
};

const rows: readonly (readonly [
  what: string,
  bytes: Buffer,
  HeaderReading | 'places4' | 'places6' | 'none' | 'socket',
])[] = [
  ['TCP4', line('TCP4 192.0.2.1 198.51.100.7 8080 443'), 'places4'],
  ['TCP6', line('TCP6 2001:db8::1 2001:db8:0:0::2 8080 443'), 'places6'],
  ['UNKNOWN alone', line('UNKNOWN'), 'socket'],
  ['UNKNOWN with anything behind it', line(`UNKNOWN ${longest.slice(5)}`), 'socket'],
  [
    'the longest line',
    line(longest),
    {
      length: 104,
      places: {
        source: { address: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', port: 65_535 },
        destination: { address: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', port: 65_535 },
      },
    },
  ],
  ['a line without an end', Buffer.alloc(107, 'PROXY UNKNOWN '), 'invalid'],
  ['a port above the largest', line('TCP4 192.0.2.1 198.51.100.7 65536 443'), 'invalid'],
  ['a port with a zero before it', line('TCP4 192.0.2.1 198.51.100.7 080 443'), 'invalid'],
  ['two blanks', line('TCP4  192.0.2.1 198.51.100.7 8080 443'), 'invalid'],
  ['too many words', line('TCP4 192.0.2.1 198.51.100.7 8080 443 1'), 'invalid'],
  ['an address of the other family', line('TCP4 ::1 198.51.100.7 8080 443'), 'invalid'],
  ['a family in lower case', line('tcp4 192.0.2.1 198.51.100.7 8080 443'), 'invalid'],
  ['an address with a zone', line('TCP6 fe80::1%lo ::1 8080 443'), 'invalid'],
  ['version 2, TCP over IPv4', v2(0x21, 0x11, ipv4), 'places4'],
  ['version 2, TCP over IPv6', v2(0x21, 0x21, ipv6), 'places6'],
  ['LOCAL', v2(0x20, 0x00, Buffer.alloc(0)), 'socket'],
  ['LOCAL with bytes that do not count', v2(0x20, 0x11, Buffer.alloc(40, 9)), 'socket'],
  [
    'an unspecified family',
    v2(
      0x21,
      0x00,
      Buffer.alloc(7 + 3)
        .fill(0, 0)
        .fill(4, 0, 1),
    ),
    'invalid',
  ],
  ['an unspecified family without TLVs', v2(0x21, 0x00, Buffer.alloc(0)), 'socket'],
  ['UDP', v2(0x21, 0x12, ipv4), 'socket'],
  ['sockets of UNIX', v2(0x21, 0x31, Buffer.alloc(216)), 'socket'],
  ['an unknown family', v2(0x21, 0x41, Buffer.alloc(300)), 'invalid'],
  ['an unknown transport', v2(0x21, 0x13, ipv4), 'invalid'],
  ['an unknown command', v2(0x22, 0x11, ipv4), 'invalid'],
  ['version 1 in the form of 2', v2(0x11, 0x11, ipv4), 'invalid'],
  ['addresses that are too short', v2(0x21, 0x11, ipv4.subarray(1)), 'invalid'],
  ['TLVs', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(2, Buffer.from('a.test')), tlv(4, Buffer.alloc(9))])), 'places4'],
  ['a TLV beyond the end', v2(0x21, 0x11, Buffer.concat([ipv4, Buffer.of(2, 0, 9, 1)])), 'invalid'],
  ['half a TLV', v2(0x21, 0x11, Buffer.concat([ipv4, Buffer.of(2, 0)])), 'invalid'],
  ['a right checksum', checked(), 'places4'],
  ['a wrong checksum', corrupt(checked()), 'invalid'],
  ['4 KiB', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(4, Buffer.alloc(4096 - 16 - 12 - 3))])), 'places4'],
  ['more than 4 KiB', v2(0x21, 0x11, Buffer.concat([ipv4, tlv(4, Buffer.alloc(4096 - 16 - 12 - 2))])), 'invalid'],
  ['a request', Buffer.from('GET / HTTP/1.1\r\n'), 'none'],
  ['a request that begins like one', Buffer.from('PROXYING / HTTP/1.1\r\n'), 'none'],
  ['a ClientHello', Buffer.of(22, 3, 1, 0, 4), 'none'],
];

const meant = { places4, places6, socket: undefined };

describe('PROXY protocol', () => {
  for (const [what, bytes, expected] of rows)
    it(`reads ${what}`, () => {
      const wanted =
        expected === 'places4' || expected === 'places6' || expected === 'socket'
          ? { length: bytes.length, places: meant[expected] }
          : expected;
      expect(readProxyHeader(bytes)).to.deep.equal(wanted);
      if (typeof wanted === 'string') return;
      expect(readProxyHeader(Buffer.concat([bytes, Buffer.from('more')]))).to.deep.equal(wanted);
      for (let length = 0; length < bytes.length; length++)
        expect(readProxyHeader(bytes.subarray(0, length)), `${length} bytes`).to.equal('more');
    });

  it('reads what it writes, in both versions and families', () => {
    const tls = { serverName: 'a.test', protocol: 'h2', version: 'TLSv1.3', commonName: 'Client' };
    for (const places of [places4, places6, undefined])
      for (const version of ['v1', 'v2'] as const) {
        const bytes = proxyHeader(version, places, tls);
        expect(readProxyHeader(bytes)).to.deep.equal({ length: bytes.length, places });
      }
    expect(proxyHeader('v1', places4, tls).toString()).to.equal('PROXY TCP4 192.0.2.1 198.51.100.7 8080 443\r\n');
    expect(proxyHeader('v1', undefined, undefined).toString()).to.equal('PROXY UNKNOWN\r\n');
  });

  it('writes the server name, the protocol and the client certificate as TLVs', () => {
    const tls = { serverName: 'a.test', protocol: 'h2', version: 'TLSv1.3', commonName: 'Client' };
    const written = proxyHeader('v2', places4, tls).subarray(16 + 12);
    const ssl = Buffer.concat([
      Buffer.of(7, 0, 0, 0, 0),
      tlv(0x21, Buffer.from('TLSv1.3')),
      tlv(0x22, Buffer.from('Client')),
    ]);
    const expected = [tlv(1, Buffer.from('h2')), tlv(2, Buffer.from('a.test')), tlv(0x20, ssl)];
    expect(written.toString('hex')).to.equal(Buffer.concat(expected).toString('hex'));
  });
});
