// `npm run shapes`: writes src/model/shapes.ts from the classes of src/model, after a field was added or changed there.
// A proxy without a control plane reads snapshots by that table, for loading the classes would cost it their frameworks.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { configKinds } from '../src/model/kinds.ts';
import { shapeTable } from '../src/model/shape-table.ts';
import { classOf } from '../src/model/validation.ts';

const file = 'src/model/shapes.ts';
const head = `// JSON shape of each kind, as plain data: written by \`npm run shapes\` from the classes of this folder, and compared
// with them by a test. Serves code that has to read a snapshot without loading the classes.
import type { Shapes } from './shape-table.ts';
`;
const table = shapeTable(configKinds.map((kind) => [kind, classOf[kind]]));
writeFileSync(file, `${head}\nexport const shapes: Shapes = ${JSON.stringify(table)};\n`);
const { status } = spawnSync('biome', ['check', '--write', file], { stdio: 'inherit' });
process.exit(status ?? 1);
