// Trailers of a gRPC-Web response: the last frame of its body, whose flag has the highest bit (“gRPC Web” of the gRPC protocol documents).

const trailersFlag = 0x80;
const headBytes = 5;

/** Frame of whole field lines as text, names in lower case; undefined where there are none. */
export function trailerFrame(lines: string): Buffer | undefined {
  if (lines === '') return undefined;
  const text = lines.replace(/^[^:\r\n]+: */gm, (name) => `${name.trimEnd().toLowerCase()} `);
  const length = Buffer.byteLength(text, 'latin1');
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame.writeUInt8(trailersFlag, 0);
  frame.writeUInt32BE(length, 1);
  frame.write(text, headBytes, 'latin1');
  return frame;
}
