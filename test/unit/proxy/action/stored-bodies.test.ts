import { expect } from 'chai';
import type { DirectResponse } from '../../../../src/model/direct-response.ts';
import { freePort } from '../../../support/free-port.ts';
import { ProxyBed } from '../../../support/proxy-bed.ts';

describe('a stored body', () => {
  let bed: ProxyBed;
  let url: string;

  async function serve(directResponse: DirectResponse): Promise<void> {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/`;
    await bed.install({
      listeners: [{ id: 'l', name: 'l', address: '127.0.0.1', port }],
      routes: [{ id: 'r', name: 'r', directResponse }],
    });
  }

  beforeEach(() => {
    bed = new ProxyBed();
  });

  afterEach(() => bed.end());

  it('has the content type of its configuration, else that of its text, and further headers in order', async () => {
    const headers = [
      { key: 'cache-control', value: 'max-age=60' },
      { key: 'link', value: '</a>' },
      { key: 'link', value: '</b>' },
    ];
    await serve({ status: 200, bodyFrom: { text: '<p>ä</p>' }, contentType: 'text/x-page', headers });
    const response = await fetch(url);
    expect(await response.text()).to.equal('<p>ä</p>');
    expect(response.headers.get('content-type')).to.equal('text/x-page');
    expect(response.headers.get('cache-control')).to.equal('max-age=60');
    expect(response.headers.get('link')).to.equal('</a>, </b>');
    await serve({ status: 200, bodyFrom: { text: '{"a":1}' } });
    expect((await fetch(url)).headers.get('content-type')).to.equal('application/json');
  });

  it('has a validator, by which a client that has the body gets 304', async () => {
    await serve({ status: 200, bodyFrom: { text: 'page' }, headers: [{ key: 'cache-control', value: 'no-cache' }] });
    const first = await fetch(url);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).to.match(/^"[\w-]{27}"$/);
    await first.text();
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await fetch(url, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text()], known).to.deep.equal([304, '']);
      expect(again.headers.get('etag')).to.equal(tag);
      expect(again.headers.get('cache-control')).to.equal('no-cache');
      expect(again.headers.get('content-type')).to.equal(null);
    }
    const head = await fetch(url, { method: 'HEAD', headers: { 'if-none-match': tag } });
    expect(head.status).to.equal(304);
    for (const init of [
      { headers: { 'if-none-match': '"other"' } },
      { method: 'POST', headers: { 'if-none-match': tag } },
    ]) {
      const whole = await fetch(url, init);
      expect([whole.status, await whole.text()]).to.deep.equal([200, 'page']);
    }
  });

  it('has no validator with another status than 200, beside an ETag of its own, or as a plain body', async () => {
    const rows: readonly DirectResponse[] = [
      { status: 503, bodyFrom: { text: 'page' } },
      { status: 200, body: 'page' },
    ];
    for (const row of rows) {
      await serve(row);
      const response = await fetch(url, { headers: { 'if-none-match': '*' } });
      expect([response.status, response.headers.get('etag')]).to.deep.equal([row.status, null]);
    }
    await serve({ status: 200, bodyFrom: { text: 'page' }, headers: [{ key: 'ETag', value: '"v1"' }] });
    expect((await fetch(url)).headers.get('etag')).to.equal('"v1"');
  });
});
