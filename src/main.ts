// Entry of the program. The size of libuv's pool is read when the pool is first used, so it is set before anything
// that could use it is imported: fsync of the log must not wait behind four name look-ups (architecture.md §2).
import { basename } from 'node:path';
import { contents } from '../program/disk.ts';
import { collectYoungAlone, holdYoungGeneration } from './young-generation.ts';

process.env.UV_THREADPOOL_SIZE ??= '16';

const neededMajor = 26;

if (Number(process.versions.node.split('.')[0]) < neededMajor) {
  process.stderr.write(`sluice: Node ${neededMajor} is needed, this is ${process.version}\n`);
  process.exit(1);
}

collectYoungAlone();
holdYoungGeneration();

// What V8 compiled is kept beside the build and goes with it: later starts are a fifth faster. Where that folder cannot
// be written, nothing is kept.
contents.keepCompiled();

// The executable has two names: that of the controller for Kubernetes is a program of its own.
if (basename(process.argv0).startsWith('sluice-controller'))
  void import('./controller/controller-command.ts').then(({ runControllerCommand }) =>
    runControllerCommand(process.argv.slice(2)),
  );
else void import('./command-line.ts').then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)));
