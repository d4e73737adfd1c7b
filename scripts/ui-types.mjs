// `npm run ui:types`: writes the types of the API's answers that the dashboard reads, from the OpenAPI document, after an
// answer was changed. A test holds them against it.
import { writeFileSync } from 'node:fs';
import { ApiServer } from '../test/support/api-server.ts';
import { typesOf } from './ui-types.ts';

const api = await ApiServer.start();
const { json } = await api.call('GET', '/docs/doc.json');
await api.stop();
writeFileSync('ui/lib/openapi.ts', typesOf(json));
