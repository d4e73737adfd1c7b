#!/usr/bin/env -S node --max-semi-space-size=4
// The executable `sluice` (contract.md §0.5): `npx sluice` in this folder, `sluice` anywhere after `npm link`. The same as
// `npm start --`, so it installs and builds first where that is needed.
process.argv.splice(2, 0, 'start');
await import('./launch.mjs');
