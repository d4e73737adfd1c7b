// The dashboard's part of the build: ui/ becomes a document, a style sheet, an icon and scripts, named by their content, each
// beside its brotli form. `ui.json` lists them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

/** Returns the files of the dashboard by name, and the modules that they were made of. */
export async function bundleUi(root) {
  const folder = join(root, 'ui');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: join(folder, 'main.tsx'), style: join(folder, 'main.css') },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: join(root, 'dist/ui'),
    tsconfig: join(folder, 'tsconfig.json'),
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' },
    logLevel: 'warning',
  });
  const files = Object.fromEntries(
    outputFiles.map(({ path, contents }) => [path.slice(path.lastIndexOf('/') + 1), contents]),
  );
  const icon = readFileSync(join(folder, 'icon.svg'));
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8).toUpperCase()}.svg`;
  files[iconName] = icon;
  const named = (start, end) => Object.keys(files).find((name) => name.startsWith(start) && name.endsWith(end));
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('"icon.svg"', `"${iconName}"`)
    .replace('"main.css"', `"${named('style-', '.css')}"`)
    .replace('"main.js"', `"${named('main-', '.js')}"`);
  files['index.html'] = Buffer.from(page);
  const all = {};
  for (const [name, contents] of Object.entries(files)) {
    all[name] = Buffer.from(contents);
    all[`${name}.br`] = compressed(contents);
  }
  all['ui.json'] = Buffer.from(JSON.stringify(Object.keys(all).sort()));
  return { files: all, inputs: Object.keys(metafile.inputs) };
}

/** Writes them below `to`. */
export async function writeUi(root, to) {
  const { files } = await bundleUi(root);
  mkdirSync(to, { recursive: true });
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(to, name), contents);
}

const compressed = (contents) =>
  brotliCompressSync(contents, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length },
  });
