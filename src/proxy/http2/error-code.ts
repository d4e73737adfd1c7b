// Error codes of HTTP/2 (RFC 9113 §7).

export const errorCode = {
  none: 0x0,
  protocol: 0x1,
  internal: 0x2,
  flowControl: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSize: 0x6,
  refused: 0x7,
  cancel: 0x8,
  compression: 0x9,
  connect: 0xa,
  calm: 0xb,
  inadequateSecurity: 0xc,
  http11Required: 0xd,
} as const;

const names = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

/** Returns the name that RFC 9113 gives a code, for log lines. */
export const nameOfCode = (code: number): string => names[code] ?? `error ${code}`;
