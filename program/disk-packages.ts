// Packages of a program in a folder; the executable has executable-packages.ts in place of this module.
import { createRequire } from 'node:module';
import type { ProgramPackages } from './contents.ts';

const require = createRequire(import.meta.url);

export const packages: ProgramPackages = {
  undici: () => require('undici'),
  protobuf: () => require('protobufjs'),
  pinoPretty: () => require('pino-pretty'),
};
