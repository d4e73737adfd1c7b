import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { seededRandom } from '../support/random.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

/** 10 rounds in `npm test`, 200 in `npm run test:faults -- --full`. */
const rounds = Number(process.env.SLUICE_CRASH_ROUNDS ?? 10);
const writers = 4;

/** Knowledge of a client about one name: the last answered write, and the one that was cut off, if any. */
interface Known {
  readonly answered: number;
  readonly pending: number | undefined;
}

describe('SIGKILL at random instants', function () {
  this.timeout(rounds * 24_000);

  it(`loses no answered write and shows no half-applied one in ${rounds} rounds`, async () => {
    const random = seededRandom(Number(process.env.SLUICE_SEED ?? 20_261));
    const folder = newFolder();
    const known = new Map<string, Known>();
    for (let round = 0; round < rounds; round++) {
      const sluice = await startSluice({ folder });
      const api = apiClient(sluice.url);
      await expectAll(api, known);
      const killed = new Promise<void>((resolve) => {
        setTimeout(() => void sluice.stop('SIGKILL').then(() => resolve()), 20 + random() * 150);
      });
      await Promise.all([...Array(writers).keys()].map((writer) => write(api, writer, round, known)));
      await killed;
    }
    const sluice = await startSluice({ folder });
    await expectAll(apiClient(sluice.url), known);
    await sluice.stop();
  });
});

type Api = ReturnType<typeof apiClient>;

/** Writes one route over and over until the process is gone, noting what was answered. */
async function write(api: Api, writer: number, round: number, known: Map<string, Known>): Promise<void> {
  const id = `route-${writer}-${round}`;
  for (let version = 1; ; version++) {
    const before = known.get(id)?.answered ?? 0;
    known.set(id, { answered: before, pending: version });
    const body = { id, name: id, directResponse: { status: 200, body: String(version) } };
    try {
      const { status } = version === 1 ? await api.post('/routes', body) : await api.put(`/routes/${id}`, body);
      if (status >= 300) throw new Error(`unexpected ${status}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('unexpected')) throw error;
      return;
    }
    known.set(id, { answered: version, pending: undefined });
  }
}

async function expectAll(api: Api, known: Map<string, Known>): Promise<void> {
  const { body: routes } = await api.get<{ id: string; directResponse: { body: string } }[]>('/routes');
  const found = new Map(routes.map(({ id, directResponse }) => [id, Number(directResponse.body)]));
  for (const [id, { answered, pending }] of known) {
    const version = found.get(id) ?? 0;
    expect([answered, pending], `${id}: found ${version}`).to.include(version);
    known.set(id, { answered: version, pending: undefined });
  }
  for (const id of found.keys()) expect(known.has(id), `${id} was never written`).to.equal(true);
}
