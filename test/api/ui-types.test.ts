// Types of the dashboard against the document that they are written from.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { typesOf } from '../../scripts/ui-types.ts';
import { ApiServer } from '../support/api-server.ts';

describe('types of the dashboard', () => {
  it('are those of the OpenAPI document; `npm run ui:types` writes them anew', async () => {
    const api = await ApiServer.start();
    try {
      const { json } = await api.call('GET', '/docs/doc.json');
      expect(readFileSync('ui/lib/openapi.ts', 'utf8')).to.equal(typesOf(json));
    } finally {
      await api.stop();
    }
  });
});
