// Program that the packager runs once, with V8's options of the program itself: names the scripts whose recorded code V8 rejects.
import { compile } from 'program:program/assets.js';
import { collectYoungAlone, holdYoungGeneration } from 'program:src/young-generation.js';

collectYoungAlone();
holdYoungGeneration();
const rejected = process.argv.slice(2).filter((name) => compile(name).cachedDataRejected !== false);
process.stdout.write(rejected.join(', '));
