// `npm run test:document`: a property-based client that knows nothing but the OpenAPI document asks a node of its own, and
// then a follower of three, a minute each. Arguments: seconds in all, the seed, one of `node` and `follower` for it alone,
// and the phases of schemathesis, for when those before fuzzing would take all the time.
// It comes from PyPI; where Python or the package cannot be had, that is said and is no failure.
import { NodeCluster } from '../support/node-cluster.ts';
import { startSluice } from '../support/sluice-process.ts';
import { ask, installed, version } from './client.ts';

const key = 'a key for this run';
const auth = `  auth: { apiKeys: [{ name: ops, key: "${key}" }] }\n`;

const [, , time = '120', seed = '1', only, phases] = process.argv;
const places = ['node', 'follower'].filter((place) => only === undefined || place === only);
const seconds = Math.max(1, Math.round(Number(time) / places.length));

const program = installed();
if (program !== undefined) {
  console.log(
    `schemathesis ${version} asks; left out: streams of events, which never end; snapshots in a batch; fieldValidation ` +
      'and minRevision but warn and 0; the removal of a member that exists',
  );
  for (const place of places) {
    const { url, stop } = await (place === 'node' ? oneNode() : oneFollower());
    const finds = await ask({ program, place, url, key, seconds, seed, phases });
    await stop();
    if (finds) process.exitCode = 1;
  }
}

interface Asked {
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

async function oneNode(): Promise<Asked> {
  const node = await startSluice({ controlPlane: auth });
  return { url: node.url, stop: () => node.stop() };
}

async function oneFollower(): Promise<Asked> {
  const cluster = await NodeCluster.start({ controlPlane: auth, caller: { key } });
  const [follower] = await cluster.followers();
  if (follower === undefined) throw new Error('three nodes have no follower');
  return { url: follower.url, stop: () => cluster.stop() };
}
