import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { fieldPages, type Schemas } from '../../../scripts/field-pages.ts';
import { modelSchemas } from '../../support/openapi-document.ts';

describe('pages of fields', () => {
  it('say what the model says (otherwise: npm run fields)', async () => {
    for (const [name, text] of fieldPages((await modelSchemas()) as Schemas)) {
      expect(readFileSync(new URL(`../../../docs/fields/${name}`, import.meta.url), 'utf8'), name).to.equal(text);
    }
  });
});
