// Version of this program, as its package says.
import { contents } from '../program/disk.ts';

export const programVersion = (): string => contents.manifest().version;
