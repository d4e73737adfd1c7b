// Replays over listeners that redirect to https.
import { expect } from 'chai';
import type { Configuration } from '../../../../src/model/proxy-config.ts';
import type { RecordedRequest } from '../../../../src/model/recent-request.ts';
import { compileInSlices } from '../../../../src/proxy/compile/compile-in-slices.ts';
import { replayTable } from '../../../../src/proxy/replay/replay-table.ts';
import { Comparison } from '../../../../src/proxy/replay/replayed-outcome.ts';
import { drain } from '../../../../src/util/time-slice.ts';

const trusting = { trustedProxies: ['10.0.0.0/8'] };
const redirecting = { redirectToHttps: {} };

async function tableOf(listener: object) {
  const route = { id: 'r', name: 'r', match: { pathPrefix: '/' }, directResponse: { status: 200, body: 'x' } };
  const configuration = {
    listeners: [{ id: 'edge', name: 'edge', port: 80, ...listener }],
    ...{ destinations: [], groups: [], middlewares: [], routes: [route] },
  } as Configuration;
  const { table } = await compileInSlices(configuration);
  return drain(replayTable(configuration, table ?? expect.fail('the table does not compile')));
}

/** @param proto value that was recorded; null: none was recorded */
async function changeOf(from: object, to: object, proto: string | null | undefined): Promise<object> {
  const comparison = drain(Comparison.of(await tableOf(from), await tableOf(to)));
  const headers = proto === undefined || proto === null ? {} : { 'x-forwarded-proto': proto };
  const record = {
    ...{ method: 'GET', scheme: 'http', host: 'a.test', path: '/', listenerId: 'edge', error: '', routeId: 'r' },
    ...{ headers, query: {}, params: [], isCut: false, lacksParams: false },
  } as unknown as RecordedRequest;
  const change = comparison.changeOf(record, { headers: proto === null ? [] : ['x-forwarded-proto'], query: [] });
  return change.is === 'undecided' ? { is: change.is, needs: change.needs } : { is: change.is };
}

describe('a replay over a listener that redirects to https', () => {
  const undecided = { is: 'undecided', needs: 'header x-forwarded-proto' };

  it('moves every request where the listener trusts no proxy', async () => {
    for (const proto of ['https', undefined, null])
      expect(await changeOf({}, redirecting, proto), String(proto)).to.deep.equal({ is: 'moved' });
  });

  it('leaves undecided what may have come to a trusted proxy by https', async () => {
    const behind = { ...redirecting, ...trusting };
    expect(await changeOf(trusting, behind, 'https')).to.deep.equal(undecided);
    expect(await changeOf(trusting, behind, null)).to.deep.equal(undecided);
    for (const proto of ['http', undefined])
      expect(await changeOf(trusting, behind, proto), String(proto)).to.deep.equal({ is: 'moved' });
    expect(await changeOf(behind, behind, 'https')).to.deep.equal({ is: 'same' });
    expect(await changeOf(redirecting, behind, 'https')).to.deep.equal(undecided);
  });
});
