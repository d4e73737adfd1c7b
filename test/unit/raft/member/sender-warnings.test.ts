import { expect } from 'chai';
import { SenderWarnings } from '../../../../raft/member/sender-warnings.ts';

describe('warnings about senders', () => {
  it('name the sender and the reason, once a minute each', () => {
    let now = 0;
    const lines: string[] = [];
    const warnings = new SenderWarnings({ warning: (text) => lines.push(text) }, { monotonicMs: () => now });
    for (now = 0; now < 61_000; now += 100) {
      warnings.happened({ type: 'stranger', from: 'x#1', message: 'heartbeat' });
      warnings.happened({ type: 'refused', from: 'a#1', message: 'heartbeat', why: 'it cannot be' });
      warnings.happened({ type: 'trusted' });
    }
    expect(lines.filter((line) => line.startsWith('x#1 is no member that this node knows'))).to.have.length(2);
    expect(lines.filter((line) => line === 'a message of a#1 is refused (heartbeat): it cannot be')).to.have.length(2);
    expect(lines).to.have.length(4);
  });
});
