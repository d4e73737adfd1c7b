// First script of the executable: checks the front script beside it and runs it, so that all but these few lines and Node
// itself is held against its SHA-256 before it runs.
import { runScript } from './assets.ts';

try {
  runScript('front');
} catch (error) {
  process.stderr.write(`sluice: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
