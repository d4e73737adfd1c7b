import { expect } from 'chai';
import { parseYaml, SettingsError } from '../../../src/settings/yaml.ts';

/** Values as a variable may bring them, without the quotes that would protect them. */
const stumbling = ['*CANARY', '*CANARY:x', '!CANARY x', '|CANARY', '>CANARY', '@CANARY', '[CANARY', 'CANARY: x: y'];

describe('YAML of the settings file', () => {
  for (const value of stumbling) {
    it(`says where it stumbles over ${value} and does not repeat it`, () => {
      const read = () => parseYaml(`auth:\n  key: ${value}\n`);
      expect(read).to.throw(SettingsError, /^YAML is invalid at line [23], column \d+: \w/);
      expect(read).to.not.throw(/CANARY/);
    });
  }

  it('follows an alias to its anchor', () => {
    expect(parseYaml('a: &x 1\nb: *x')).to.deep.equal({ a: 1, b: 1 });
  });
});
