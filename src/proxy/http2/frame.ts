// Frame layout: types, flags and sizes (RFC 9113 §4.1, §6).

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

/** Length of a frame's head. */
export const frameHeadBytes = 9;

/**
 * Smallest frame limit that RFC 9113 allows, and the largest frame that Sluice takes: larger ones save nothing here.
 */
export const frameBytesMax = 16_384;

/** Connection preface of a client (RFC 9113 §3.4). */
export const preface = new TextEncoder().encode('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const windowMax = 0x7fff_ffff;
export const defaultWindow = 65_535;
export const streamIdMax = 0x7fff_ffff;
