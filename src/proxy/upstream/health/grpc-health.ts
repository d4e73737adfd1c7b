// The two messages of grpc.health.v1.Health/Check, small enough to be written and read by hand.

/** A HealthCheckRequest in its gRPC frame. */
export function checkRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const message = name.length === 0 ? name : Buffer.concat([Buffer.of(0x0a, ...varint(name.length)), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** Returns whether a HealthCheckResponse in its frame says SERVING. */
export function isServing(frame: Buffer): boolean {
  if (frame.length < 5 || frame[0] !== 0) return false;
  const end = 5 + frame.readUInt32BE(1);
  if (frame.length < end) return false;
  let status = 0;
  for (let at = 5; at < end; ) {
    const tag = readVarint(frame, at);
    const value = readVarint(frame, tag.next);
    if ((tag.value & 7) === 0) {
      if (tag.value >> 3 === 1) status = value.value;
      at = value.next;
    } else if ((tag.value & 7) === 2) at = value.next + value.value;
    else return false;
  }
  return status === serving;
}

const serving = 1;

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function readVarint(from: Buffer, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0, next = at; ; shift += 7) {
    const byte = from[next++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80 || shift > 56) return { value, next };
  }
}
