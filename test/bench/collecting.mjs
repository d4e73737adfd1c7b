// Preloaded into a Sluice whose memory is measured: garbage is collected every few seconds, so that what is left is in use.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(() => collect(), 4_000).unref();
