// First words of a thread of the executable: takes the script of that name from the assets.
import { unpackDirectories } from './addon.ts';
import { runScript } from './assets.ts';

export function begin({ name, unpackIn }: { readonly name: string; readonly unpackIn: readonly string[] }): void {
  unpackDirectories.push(...unpackIn);
  runScript(name);
}
