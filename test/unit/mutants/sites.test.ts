// Sites for planted bugs: rows of the table name lines that are in the source still.
import { expect } from 'chai';
import { areas, sitesOf } from '../../mutants/sites.ts';

describe('sites for planted bugs', () => {
  for (const area of areas)
    it(`are found in ${area.folder}${area.files === undefined ? '' : `: ${area.files}`}, whose equivalents are lines of it`, () => {
      expect(sitesOf(area)).to.not.deep.equal([]);
    });
});
