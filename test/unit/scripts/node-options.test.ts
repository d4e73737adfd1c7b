import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { programOptions } from '../../../scripts/node-options.mjs';

const textOf = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the options of the Node that runs the program', () => {
  it('are those of npm start and of the executable', () => {
    const options = programOptions.join(' ');
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts.start).to.equal(`exec node ${options} scripts/launch.mjs start`);
    expect(textOf('scripts/sluice.mjs').split('\n')[0]).to.equal(`#!/usr/bin/env -S node ${options}`);
  });
});
