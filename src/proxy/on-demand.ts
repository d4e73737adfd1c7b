// Packages that few configurations need, loaded when one does: undici alone takes twenty megabytes of each thread and a
// tenth of a second of its start.
import type * as Http2 from 'node:http2';
import type Protobuf from 'protobufjs';
import type * as Undici from 'undici';
import { packages } from '../../program/disk-packages.ts';

/** HTTP to services, health checks and the like. */
export const undici = (): typeof Undici => packages.undici();

/** Messages of services that speak gRPC. */
export const protobuf = (): typeof Protobuf => packages.protobuf();

/** Node's own HTTP/2, of which probes are the only user. */
export const http2 = (): typeof Http2 => process.getBuiltinModule('node:http2');
