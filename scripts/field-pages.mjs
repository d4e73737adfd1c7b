// `npm run fields`: writes docs/fields from the model, after a field was added or changed. A test holds them against it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelSchemas } from '../test/support/openapi-document.ts';
import { fieldPages } from './field-pages.ts';

mkdirSync('docs/fields', { recursive: true });
for (const [name, text] of fieldPages(await modelSchemas())) writeFileSync(join('docs/fields', name), text);
