// Packages of the executable: part of each script that may need them.
import type { ProgramPackages } from './contents.ts';

/** Bundled by the packager. */
declare const require: NodeJS.Require;

export const packages: ProgramPackages = {
  undici: () => require('undici'),
  protobuf: () => require('protobufjs'),
  pinoPretty: () => require('pino-pretty'),
};
