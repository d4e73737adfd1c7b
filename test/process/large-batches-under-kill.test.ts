// A kill while LevelDB writes a batch of many megabytes: the next start is clean, what was answered is there, and what was
// cut off is there whole or not at all.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http-call.ts';
import { seededRandom } from '../support/random.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const kills = Number(process.env.SLUICE_BATCH_KILLS ?? 3);
const fillerBytes = 1_000_000;
const filler = 'x'.repeat(fillerBytes);
const [fewest, most] = [8, 32];
/** Event that ends a life: its answer, a share of the batch in the log (a kill, or a stop), or an arbitrary moment. */
const ends = ['answer', 'share', 'stop', 'any time'] as const;

/** The first and the last of a batch carry its number; what makes it large lies between them. */
const operationsOf = (version: number, fillers: number) => {
  const mark = (name: string) => ({
    ...{ op: 'upsert', kind: 'groups', by: 'name' },
    body: { name, pathPrefix: `/${version}` },
  });
  const between = Array.from({ length: fillers }, (_, at) => ({
    ...{ op: 'upsert', kind: 'secrets', by: 'name' },
    body: { name: `filler-${at}`, value: `${filler}${version}` },
  }));
  return [mark('first'), ...between, mark('last')];
};

describe('SIGKILL while large batches are written', function () {
  this.timeout(60_000 + kills * 60_000);

  it(`loses none that was answered, leaves no half of one, and starts clean, ${kills} times`, async () => {
    const random = seededRandom(Number(process.env.SLUICE_SEED ?? 20_263));
    const folder = newFolder();
    let [answered, sent, torn] = [0, 0, 0];
    for (let kill = 0; kill <= kills; kill += 1) {
      const sluice = await startSluice({ folder });
      answered = await foundIn(sluice, answered, sent);
      if (kill === kills) {
        expect(await sluice.stop()).to.equal(0);
        break;
      }
      const fillers = fewest + Math.floor(random() * (most - fewest));
      const [end, share] = [ends[kill % ends.length]!, random()];
      const before = await loggedBytes(sluice);
      sent += 1;
      const version = sent;
      let isAsking = true;
      const body = JSON.stringify({ operations: operationsOf(version, fillers) });
      const asking = call(sluice.url, 'POST', '/api/v1/batch', { body })
        .then(
          ({ status, text }) => {
            // A stop and a busy disk keep a client waiting no longer than a write may take.
            expect(status, text.slice(0, 200)).to.be.oneOf([200, 503, 504]);
            if (status === 200) answered = version;
          },
          (error: NodeJS.ErrnoException) => expect(error.code, error.message).to.be.a('string'),
        )
        .finally(() => {
          isAsking = false;
        });
      if (end === 'any time') await Promise.race([asking, pause(share * 1_500)]);
      else if (end === 'answer') await asking;
      else while (isAsking && (await loggedBytes(sluice)) - before <= share * fillers * fillerBytes) await pause(1);
      const code = await sluice.stop(end === 'stop' ? 'SIGTERM' : 'SIGKILL');
      await asking;
      expect(code, sluice.output.join('\n')).to.equal(end === 'stop' ? 0 : 'SIGKILL');
      const grown = (await loggedBytes(sluice)) - before;
      if (grown > 0 && grown < fillers * fillerBytes) torn += 1;
      if (process.env.SLUICE_TEST_VERBOSE) console.log({ kill, end, fillers, grown, torn, answered });
    }
  });
});

/** Bytes written into the files of the log. */
async function loggedBytes({ storePath }: SluiceProcess): Promise<number> {
  const folder = join(storePath, 'raft', 'journal');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'));
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Number of the latest batch that took effect, as a start finds it. */
async function foundIn({ url, storePath, output }: SluiceProcess, answered: number, sent: number): Promise<number> {
  expect(await readdir(join(storePath, 'raft')), 'marks').to.not.include.members(['POISON']);
  expect(await readdir(join(storePath, 'raft')), 'marks').to.not.include.members(['SUSPECT']);
  expect(output.filter((line) => /"level":"?(?:error|warn|50|40)/.test(line))).to.deep.equal([]);
  const groups = await eventually(async () => {
    const { status, text, json } = await call(url, 'GET', '/api/v1/groups');
    expect(status, text.slice(0, 200)).to.equal(200);
    return json as { name: string; pathPrefix: string }[];
  });
  const secrets = (await call(url, 'GET', '/api/v1/secrets')).json as { name: string }[];
  if (groups.length === 0) {
    expect(answered, 'answered').to.equal(0);
    expect(secrets).to.deep.equal([]);
    return 0;
  }
  expect(groups.map(({ name }) => name)).to.have.members(['first', 'last']);
  const [found, last] = groups.map(({ pathPrefix }) => Number(pathPrefix.slice(1)));
  expect(found, 'first and last').to.equal(last);
  expect(found, 'found').to.be.within(answered, sent);
  expect(secrets.length).to.be.at.least(fewest);
  return found ?? 0;
}
