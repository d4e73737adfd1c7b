// ClientHellos written down byte by byte (RFC 8446 §4.1.2), with the server name and the extensions that a test needs.

export interface HelloWish {
  /** Absent: the extension is left out. */
  readonly serverName?: string;
  /** Further extensions: number and content. */
  readonly extensions?: readonly (readonly [number, Buffer])[];
  /** Bytes of each record. Default: one record, or as many as are needed. */
  readonly recordBytes?: number;
}

const recordBytesMax = 16_384;

const vector = (size: number, content: Buffer): Buffer => {
  const length = Buffer.alloc(size);
  length.writeUIntBE(content.length, 0, size);
  return Buffer.concat([length, content]);
};

const serverNameExtension = (name: string): Buffer =>
  vector(2, Buffer.concat([Buffer.of(0), vector(2, Buffer.from(name, 'latin1'))]));

export function makeHello({ serverName, extensions = [], recordBytes = recordBytesMax }: HelloWish): Buffer {
  const all = [...(serverName === undefined ? [] : [[0, serverNameExtension(serverName)] as const]), ...extensions];
  const parts = all.map(([type, content]) => Buffer.concat([Buffer.of(type >> 8, type & 255), vector(2, content)]));
  const body = Buffer.concat([
    Buffer.of(3, 3),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(0)),
    vector(2, Buffer.of(0x13, 0x01)),
    vector(1, Buffer.of(0)),
    vector(2, Buffer.concat(parts)),
  ]);
  const message = Buffer.concat([Buffer.of(1), vector(3, body)]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes)
    records.push(Buffer.concat([Buffer.of(22, 3, 1), vector(2, message.subarray(at, at + recordBytes))]));
  return Buffer.concat(records);
}

/** Fatal alert unrecognized_name in plaintext, one character a byte. */
export const unrecognizedName = '\x15\x03\x03\x00\x02\x02\x70';
