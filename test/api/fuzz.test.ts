import { expect } from 'chai';
import fc from 'fast-check';
import type { EditableKind } from '../../src/model/kinds.ts';
import { ApiServer } from '../support/api-server.ts';
import { bodyOf, unknownPrefix } from '../support/bodies.ts';
import { editableKinds } from '../support/resources.ts';

const runs = 1_000;
const seed = 20_310_701;

// Any body is either refused as invalid or comes back as it was sent, methods in upper case; none is a bug (security.md S26, S31).
describe('any body', () => {
  let api: ApiServer;

  before(async () => {
    api = await ApiServer.start();
  });

  after(() => api.stop());

  for (const kind of editableKinds) {
    it(`for ${kind} is created and read back equal, or refused`, async () => {
      const outcomes = new Map<number, number>();
      await fc.assert(
        fc.asyncProperty(bodyOf(kind), async (sent) => {
          const { status, headers, text } = await api.call('POST', `/${kind}`, { body: JSON.stringify(sent) });
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
          expect(status, text).to.be.oneOf([201, 400]);
          const path = headers.location?.slice('/api/v1'.length) ?? '';
          if (status === 201) await readBack(kind, path, sent).finally(() => api.call('DELETE', path));
        }),
        { numRuns: runs, seed },
      );
      // A generator that only ever makes rubbish would test nothing.
      expect(outcomes.get(201), JSON.stringify([...outcomes])).to.be.greaterThan(runs / 20);
      expect(outcomes.get(400), JSON.stringify([...outcomes])).to.be.greaterThan(runs / 20);
    });
  }

  async function readBack(kind: EditableKind, path: string, sent: unknown): Promise<void> {
    const { status, json } = await api.call('GET', path);
    expect(status).to.equal(200);
    const again = await api.call('PUT', path, { body: JSON.stringify(json) });
    expect(again.status, again.text).to.equal(200);
    expect((await api.call('GET', path)).json).to.deep.equal(json);
    const lost = differences(sent, json, '');
    expect(lost, JSON.stringify({ kind, sent, json })).to.deep.equal([]);
  }
});

/** Pointers of what was sent and came back otherwise. Null, empty and unknown values may go (J4, J5, decision 10). */
function differences(sent: unknown, got: unknown, pointer: string): string[] {
  if (sent === null || sent === '') return [];
  if (Array.isArray(sent) && Array.isArray(got)) {
    // Null elements are absent ones, and lists of ids collapse repetitions to the first (contract.md §2.4).
    const kept = sent.filter(
      (item, index) => item !== null && (typeof item === 'object' || sent.indexOf(item) === index),
    );
    const all = sent.filter((item) => item !== null);
    const expected = got.length === all.length ? all : kept;
    return expected.flatMap((item, index) => differences(item, got[index], `${pointer}/${index}`));
  }
  if (isRecord(sent) && isRecord(got)) {
    const known = Object.entries(sent).filter(([key]) => !key.startsWith(unknownPrefix));
    return known.flatMap(([key, value]) => differences(value, got[key], `${pointer}/${key}`));
  }
  // Methods are stored in upper case, references as they are.
  const isMethod = typeof sent === 'string' && methodAt.test(pointer) && !sent.includes('{{secret:');
  const expected = isMethod ? sent.toUpperCase() : sent;
  return expected === got ? [] : [pointer];
}

const methodAt = /\/(?:methods|allowMethods)\/\d+$/;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
