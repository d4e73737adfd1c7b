// One start at a time installs and builds in this folder: a second one would take the packages away under the first.
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';

const lookAgainMs = 200;

/** Runs `work` once no other living process is at it. `file` names who is. */
export async function inTurn(file, work) {
  await take(file);
  const release = () => rmSync(file, { force: true });
  process.on('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

async function take(file) {
  let waits = false;
  for (;;) {
    if (claim(file)) return;
    if (!isAlive(ownerOf(file))) {
      rmSync(file, { force: true });
      continue;
    }
    if (!waits) process.stderr.write('Another start is installing or building here; waiting for it …\n');
    waits = true;
    await later(lookAgainMs);
  }
}

/** Creates the file by a link, so that it never exists without the number in it. */
function claim(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Returns the owner's process id; undefined when it has just ended. */
function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
