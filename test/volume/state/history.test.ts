import { expect } from 'chai';
import { ConfigState } from '../../../src/state/config-state.ts';
import { historyMax } from '../../../src/state/history.ts';
import { activate, applyRound, capture } from '../../support/commands.ts';

describe('the history of activations', () => {
  it(`keeps the last ${historyMax}, in memory and in its rows`, () => {
    const state = new ConfigState();
    applyRound(state, capture('a'));
    const kept = new Set<string>();
    const apply = (count: number): void => {
      const commands = Array.from({ length: count }, () => activate('a'));
      for (const { key, body } of applyRound(state, ...commands).rows) {
        if (!key.startsWith('v/')) continue;
        if (body === undefined) kept.delete(key);
        else kept.add(key);
      }
    };
    apply(1);
    for (let at = 0; at < historyMax; at += 500) apply(500);
    expect(state.activations).to.have.lengthOf(historyMax);
    expect(kept.size).to.equal(historyMax);
    expect(state.activations[0]?.index).to.equal(state.applied - historyMax + 1);
    const [first] = [...kept].sort();
    expect(first).to.equal(`v/${String(state.applied - historyMax + 1).padStart(16, '0')}`);
  });
});
