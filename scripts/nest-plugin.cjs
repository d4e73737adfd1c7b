// Plugin of `nest build` (nest-cli.json): once the modules are compiled, the rest of the build follows, as in `npm run build`.
const { rmSync } = require('node:fs');
const { join } = require('node:path');

/** Folder of the compiled modules is `modules` in it (tsconfig.build.json). */
const fresh = join(__dirname, '../dist.nest');

/** Called by the CLI before it emits; changes no module. */
exports.after = () => {
  rmSync(fresh, { recursive: true, force: true });
  const build = import('./build.mjs');
  const madeFrom = build.then(({ sourcesFingerprint }) => sourcesFingerprint());
  // A compiler that refuses exits before. With nothing left to do the modules are there.
  process.once('beforeExit', async () => {
    try {
      const { assemble } = await build;
      await assemble(fresh, await madeFrom);
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true });
      console.error(error.message);
      process.exitCode = 1;
    }
  });
  return () => (file) => file;
};
