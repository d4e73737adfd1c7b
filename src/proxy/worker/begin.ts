// First of what the thread of a proxy worker runs. Threads do not share what V8 compiled; it is kept where main keeps it,
// and read from there by every later start.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

if (import.meta.url.endsWith('.js'))
  module.enableCompileCache(fileURLToPath(new URL('../../../.compiled', import.meta.url)));

await import('./thread.ts');
// A thread that is ended with its process would keep nothing.
module.flushCompileCache();
