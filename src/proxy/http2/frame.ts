// What a frame looks like (RFC 9113 §4.1, §6).

export const frameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const frameFlag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
  enableConnectProtocol: 0x8,
} as const;

/** Bytes before each payload. */
export const frameHeadBytes = 9;

/** The least that everyone must take, and the most that Sluice takes: larger frames save nothing here. */
export const frameBytesMax = 16_384;

/** What a client's connection begins with. */
export const preface = new TextEncoder().encode('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const windowMax = 0x7fff_ffff;
export const defaultWindow = 65_535;
export const streamIdMax = 0x7fff_ffff;
