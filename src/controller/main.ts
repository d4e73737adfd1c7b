// Entry of sluice-controller.
import { contents } from '../../program/disk.ts';

contents.keepCompiled();

void import('./controller-command.ts').then(({ runControllerCommand }) => runControllerCommand(process.argv.slice(2)));
