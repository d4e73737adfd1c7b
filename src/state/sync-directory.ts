import { open } from 'node:fs/promises';

/** Makes names durable that were created, renamed or removed in this directory. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
