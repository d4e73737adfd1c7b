// First words of a thread of the executable: takes the script of that name from the assets.
import { runScript } from './assets.ts';

export function begin(name: string): void {
  runScript(name);
}
