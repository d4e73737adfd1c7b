// Holders of bytes that are bounded, as the tests of their memory make them, and the limits that they are of.
import { HeldBody } from '../../src/proxy/exchange/held-body.ts';
import { MessageReader } from '../../src/proxy/external/grpc-frames.ts';
import { BodyBuffer } from '../../src/proxy/forward/mirror/body-buffer.ts';
import { KeptBody } from '../../src/proxy/forward/mirror/kept-body.ts';
import { PendingBytes } from '../../src/proxy/http2/pending-bytes.ts';
import type { BodySource } from '../../src/proxy/message/body.ts';
import { PendingWrites } from '../../src/proxy/socket/pending-writes.ts';
import { ReceiveBuffer } from '../../src/util/receive-buffer.ts';

/** Bytes that each holder is given, in pieces of one. */
export const count = 300_000;
const silent = { start: () => {}, pause: () => {}, resume: () => {}, abort: () => {} } as BodySource;

export type Take = ((bytes: Buffer, at: number) => unknown) & { readonly clear?: () => void };

/** Holders, each with one piece of the bytes that it is given; `clear` gives back what is counted for all of a worker. */
export const holders = {
  'a receive buffer (heads, hellos, trailers, answers of services, keys)': () => {
    const holder = new ReceiveBuffer();
    return (bytes) => holder.append(bytes, 0, bytes.length);
  },
  'a body that is read before it passes (celBodyMaxSize, extAuthz, extProc)': () => {
    const holder = new HeldBody(silent);
    holder.collect(count, () => {});
    return (bytes) => holder.data(bytes);
  },
  'a body that may be sent again (retryBufferBytes)': () => {
    const holder = new HeldBody(silent);
    holder.keep(count);
    holder.start({ from: () => {}, data: () => true, end: () => {}, fail: () => {} });
    return (bytes) => holder.data(bytes);
  },
  'a mirrored body that waits for its connection': () => {
    const holder = new BodyBuffer();
    return Object.assign((bytes: Buffer) => holder.push(bytes), { clear: () => holder.clear() });
  },
  'a response that is compared with that of a mirror': () => {
    const holder = new KeptBody(count);
    return Object.assign((bytes: Buffer) => holder.push(bytes), { clear: () => holder.clear() });
  },
  'writes behind one that the client does not take': () => {
    const holder = new PendingWrites();
    return (bytes) => holder.push(bytes);
  },
  'a message of gRPC that is not whole': () => {
    const holder = new MessageReader();
    holder.read(Buffer.from([0, 0, 0x20, 0, 0]), () => true);
    return (bytes) => holder.read(bytes, () => true);
  },
  'data of a stream of HTTP/2 that waits for its window': () => {
    const holder = new PendingBytes();
    return Object.assign((bytes: Buffer) => holder.append(bytes, 0, bytes.length), { clear: () => holder.clear() });
  },
} as const satisfies Readonly<Record<string, () => Take>>;

/** Holder of the bytes of each limit; else why the bytes of it are not held. */
export const holderOf: Readonly<
  Record<string, keyof typeof holders | 'they pass' | 'part of the configuration' | 'fixed memory'>
> = {
  'proxy.maxUnfinishedHeadBytes': 'a receive buffer (heads, hellos, trailers, answers of services, keys)',
  'proxy.celBodyMaxSize': 'a body that is read before it passes (celBodyMaxSize, extAuthz, extProc)',
  'proxy.retryBufferBytes': 'a body that may be sent again (retryBufferBytes)',
  'telemetry.recentRequests': 'fixed memory',
  'controlPlane.raft.nodeId': 'part of the configuration',
  'listeners maxRequestHeadersKB': 'a receive buffer (heads, hellos, trailers, answers of services, keys)',
  'listeners maxRequestBodyBytes': 'they pass',
  'listeners errorPages[].bodyFrom.text': 'part of the configuration',
  'routes maxRequestBodyBytes': 'they pass',
  'routes directResponse.bodyFrom.text': 'part of the configuration',
  'routes forward.mirror.compare.maxBytes': 'a response that is compared with that of a mirror',
  'routes middlewareOverrides.*.extProc.phases.maxBodyBytes':
    'a body that is read before it passes (celBodyMaxSize, extAuthz, extProc)',
  'groups middlewareOverrides.*.extProc.phases.maxBodyBytes':
    'a body that is read before it passes (celBodyMaxSize, extAuthz, extProc)',
  'middlewares extProc.phases.maxBodyBytes': 'a body that is read before it passes (celBodyMaxSize, extAuthz, extProc)',
  'middlewares compress.minBytes': 'they pass',
  'middlewares compress.decompressRequest.maxBytes': 'they pass',
  'middlewares compress.decompressRequest.maxRatio': 'they pass',
};
