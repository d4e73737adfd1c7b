// `npm run package`: what Sluice is installed by, in out/. Two runs on one commit give the same bytes.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, root } from './build.mjs';
import { gzip, tar, withFolders } from './package/archive.mjs';
import { billOfMaterials, provenance } from './package/bill-of-materials.mjs';
import { recordCode } from './package/code.mjs';
import { debianPackage } from './package/debian.mjs';
import { documentsOf } from './package/documents.mjs';
import { sha256Of, writeExecutable } from './package/executable.mjs';
import { writeImages } from './package/image.mjs';
import { librariesOf } from './package/libraries.mjs';
import { manifestOf, packagesIn, sourceDateEpoch } from './package/manifest.mjs';
import { nodeOf } from './package/node.mjs';
import { bundleScripts, explorerFiles } from './package/scripts.mjs';
import { checkKey, sign } from './package/sign.mjs';
import { stripped } from './package/strip.mjs';
import { targets } from './package/targets.mjs';
import { bundleUi } from './ui.mjs';

const help = `Usage: npm run package [-- --target TARGET,…] [--out FOLDER] [--sign KEY]

  --sign KEY   private key of OpenSSH (ed25519) that signs SHA256SUMS; default: SLUICE_SIGNING_KEY

Targets: ${Object.keys(targets).join(', ')}; all of them when none is named.
`;

let options;
try {
  options = parseArgs({
    options: {
      target: { type: 'string' },
      out: { type: 'string' },
      sign: { type: 'string' },
      help: { type: 'boolean' },
    },
  }).values;
} catch (error) {
  fail(error.message);
}
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}
const wanted = options.target?.split(',') ?? Object.keys(targets);
const unknown = wanted.filter((name) => !Object.hasOwn(targets, name));
if (unknown.length > 0) fail(`no target ${unknown.join(', ')}`);
const key = options.sign ?? process.env.SLUICE_SIGNING_KEY;
if (key !== undefined) {
  try {
    checkKey(key);
  } catch (error) {
    fail(`the key that signs cannot be read: ${error.message}`);
  }
}

const out = resolve(options.out ?? join(root, 'out'));
const work = join(root, `dist.package.${process.pid}`);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
try {
  await packageAll();
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function packageAll() {
  const modules = join(work, 'modules');
  said('compiling', () => compile(modules));
  const ui = await bundleUi(root);
  const { scripts, inputs: ofScripts } = await bundleScripts(modules);
  const inputs = [...ofScripts, ...ui.inputs];
  const manifest = manifestOf(root, inputs);
  const shared = {
    ...scripts,
    ...explorerFiles(root, ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']),
    ...Object.fromEntries(Object.entries(ui.files).map(([name, bytes]) => [`ui/${name}`, bytes])),
  };
  const packages = packagesIn(inputs);
  const documents = await documentsOf({ root, packages, manifest, modules });
  for (const name of wanted) await packageTarget(name, { modules, shared, manifest, documents });
  const debianPackages = packageImages(manifest, documents);
  const parts = { ...process.versions };
  writeJson(`sluice-${manifest.version}.cdx.json`, billOfMaterials({ root, manifest, packages, parts }));
  const statement = provenance({ subjects: sumsOfAll(), manifest, targets: wanted, debianPackages });
  writeJson(`sluice-${manifest.version}.intoto.json`, statement);
  const lines = Object.entries(sumsOfAll()).map(([file, sum]) => `${sum}  ${file}\n`);
  const sums = join(out, 'SHA256SUMS');
  writeFileSync(sums, lines.join(''));
  if (key !== undefined) sign(sums, key);
  console.log(`package: ${lines.length} files in ${out}`);
}

/** Returns the SHA-256 of each file in `out`, by its path. */
function sumsOfAll() {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = files.map(({ parentPath, name }) => relative(out, join(parentPath, name))).sort();
  return Object.fromEntries(paths.map((path) => [path, sha256Of(readFileSync(join(out, path)))]));
}

/**
 * Writes the image of the targets that have one, and returns the packages of Debian in it. A machine without apt, or
 * without a way to Debian's server, leaves the image out and says so.
 */
function packageImages(manifest, documents) {
  const architectures = wanted.flatMap((name) => targets[name].debian ?? []);
  if (architectures.length === 0) return [];
  let libraries;
  try {
    libraries = librariesOf(architectures, root);
  } catch (error) {
    console.error(`package: image: left out, for its libraries could not be fetched: ${error.message}`);
    return [];
  }
  const images = wanted
    .filter((name) => targets[name].debian !== undefined)
    .map((name) => ({
      architecture: targets[name].debian,
      executable: readFileSync(join(out, `sluice-${manifest.version}-${name}`)),
      libraries: libraries[targets[name].debian].entries,
    }));
  const folder = join(out, `sluice-${manifest.version}.oci`);
  writeImages({ folder, root, images, documents, manifest, date: sourceDateEpoch(root) });
  console.log(`package: image: ${architectures.join(', ')}`);
  return Object.values(libraries).flatMap(({ packages }) => packages);
}

function writeJson(name, value) {
  writeFileSync(join(out, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

async function packageTarget(name, { modules, shared, manifest, documents }) {
  const target = targets[name];
  const folder = join(work, name);
  mkdirSync(folder);
  const node = join(folder, 'node');
  const original = readFileSync(nodeOf(target, root));
  writeFileSync(node, name.startsWith('linux') ? stripped(original) : original);
  chmodSync(node, 0o755);
  const addon = readFileSync(join(root, 'node_modules/classic-level/prebuilds', target.addon));
  const assets = { ...shared, 'classic-level.node': addon };
  // Code is recorded by the Node that takes it, which runs on this kind of machine alone.
  const isOwn = name === `${process.platform}-${process.arch}`;
  const code = isOwn ? await recordCode({ modules, assets, manifest, node, folder }) : {};
  const output = join(out, `sluice-${manifest.version}-${name}`);
  writeExecutable({ assets: { ...assets, ...code }, manifest, node, folder: join(folder, 'assets'), output });
  // The same program under its other name: it is the controller then.
  mkdirSync(join(out, 'controller'), { recursive: true });
  copyFileSync(output, join(out, 'controller', `sluice-controller-${manifest.version}-${name}`));
  writeArchives({ name, target, executable: readFileSync(output), documents, version: manifest.version });
  console.log(`package: ${name}: ${(readFileSync(output).length / 1e6).toFixed(0)} MB`);
}

function writeArchives({ name, target, executable, documents, version }) {
  const date = sourceDateEpoch(root);
  const top = `sluice-${version}-${name}`;
  const entries = [
    { path: `${top}/bin/sluice`, mode: 0o755, bytes: executable },
    { path: `${top}/bin/sluice-controller`, mode: 0o777, target: 'sluice' },
    ...documents.map(({ path, bytes }) => ({ path: `${top}/share/${path}`, mode: 0o644, bytes })),
  ];
  writeFileSync(join(out, `${top}.tar.gz`), gzip(tar(withFolders(entries), date)));
  if (target.debian === undefined) return;
  const bytes = debianPackage({ root, executable, documents, version, architecture: target.debian, date });
  writeFileSync(join(out, `sluice_${version}_${target.debian}.deb`), bytes);
}

function said(what, run) {
  const startedAt = performance.now();
  run();
  console.log(`package: ${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

function fail(reason) {
  console.error(`package: ${reason}\n\n${help}`);
  process.exit(2);
}
