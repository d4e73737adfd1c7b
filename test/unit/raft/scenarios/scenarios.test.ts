import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { play } from './player.ts';

const folder = new URL('../../../scenarios/', import.meta.url);

describe('scenario', () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt')))
    it(name.replace('.txt', '').replaceAll('-', ' '), () => play(readFileSync(new URL(name, folder), 'utf8')));
});

describe('scenario player', () => {
  it('names the line that is not as expected', () => {
    const script = 'addNodes n=1 voters=1 index=10\ncampaign id=1\nstabilize\nexpect id=1 role=follower\n';
    expect(() => play(script)).to.throw('line 4 "expect id=1 role=follower": role is leader, not follower');
  });

  it('refuses a scenario that expects nothing, and commands that do not exist', () => {
    expect(() => play('addNodes n=1 voters=1 index=10')).to.throw('expects nothing');
    expect(() => play('reboot id=1')).to.throw('there is no command "reboot"');
  });
});
