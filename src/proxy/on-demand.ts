// Packages that few configurations need, loaded when one does: undici alone takes twenty megabytes of each thread and a
// tenth of a second of its start.
import type * as Http2 from 'node:http2';
import { createRequire } from 'node:module';
import type Protobuf from 'protobufjs';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);

/** HTTP to services, health checks and the like. */
export const undici = (): typeof Undici => load('undici') as typeof Undici;

/** Messages of services that speak gRPC. */
export const protobuf = (): typeof Protobuf => load('protobufjs') as typeof Protobuf;

/** Node's own HTTP/2, of which probes are the only user. */
export const http2 = (): typeof Http2 => process.getBuiltinModule('node:http2');
