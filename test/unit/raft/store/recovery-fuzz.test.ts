import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'chai';

import { type FuzzOptions, fuzzRecovery } from './recovery-fuzz.ts';

/** Memory-backed where there is such a place: what is tested is the judgement, not the disk. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

describe('a start on a damaged log directory', () => {
  const rounds: [string, Pick<FuzzOptions, 'step' | 'files' | 'clean'>][] = [
    ['the journal of a clean stop', { step: 197, files: /^\d{16}\.log$/, clean: true }],
    ['the journal of a killed process', { step: 307, files: /^\d{16}\.log$/, clean: false }],
  ];
  for (const [what, options] of rounds) {
    it(`never takes ${what} with a byte flipped or cut off for sound and different`, async () => {
      const { fates, missed } = await fuzzRecovery({ ...options, parent });
      expect(missed).to.deep.equal([]);
      expect(fates.poisoned + fates.suspect + fates.refused, 'damage that was noticed').to.be.greaterThan(5);
    });
  }
});
