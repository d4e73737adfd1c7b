// Preloaded into every thread of a Sluice under test: its wall clock is ahead by the milliseconds in the file SLUICE_CLOCK.
import { readFileSync } from 'node:fs';

const { SLUICE_CLOCK: file } = process.env;
const { now } = Date;
let ahead = 0;
const read = () => {
  try {
    ahead = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    ahead = 0;
  }
};
read();
setInterval(read, 50).unref();
Date.now = () => now() + ahead;
