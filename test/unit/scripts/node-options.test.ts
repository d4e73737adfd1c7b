import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { programEnvironment, programOptions } from '../../../scripts/node-options.mjs';

const textOf = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the options and environment of the Node that runs the program', () => {
  it('are those of npm start and of the executable', () => {
    const options = programOptions.join(' ');
    const environment = Object.entries(programEnvironment).map((entry) => entry.join('='));
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts.start).to.equal(`${environment.join(' ')} exec node ${options} scripts/launch.mjs start`);
    expect(textOf('scripts/sluice.mjs').split('\n')[0]).to.equal(
      `#!/usr/bin/env -S ${environment.join(' ')} node ${options}`,
    );
  });
});
