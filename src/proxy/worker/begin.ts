// First module of the thread of a proxy worker. Threads do not share what V8 compiled; it is kept where main keeps it, and
// read from there by every later start.
import module from 'node:module';
import { contents } from '../../../program/disk.ts';

contents.keepCompiled();
// A thread that is ended with its process would keep nothing.
void import('./thread.ts').then(() => module.flushCompileCache());
