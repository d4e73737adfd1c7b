import { expect } from 'chai';
import type { ErrorPage } from '../../../src/model/error-page.ts';
import { freePort } from '../../support/free-port.ts';
import { forwarding, ProxyBed, rawExchange } from '../../support/proxy-bed.ts';

const html = { contentType: 'text/html; charset=utf-8' };

describe('an error page', () => {
  let bed: ProxyBed;
  let port: number;

  async function serve(ofListener: readonly ErrorPage[], ofRoute: readonly ErrorPage[] = []): Promise<void> {
    port = await freePort();
    const upstream = await bed.upstream((request, response) => {
      response.writeHead(request.url === '/busy' ? 503 : 404, {
        'retry-after': '7',
        etag: '"x"',
        'content-encoding': 'br',
      });
      response.end('from upstream');
    });
    const gone = await freePort();
    const destination = (id: string, to: number) => ({ id, name: id, host: '127.0.0.1', port: to });
    await bed.install({
      listeners: [{ id: 'l', name: 'l', address: '127.0.0.1', port, errorPages: ofListener }],
      destinations: [destination('up', upstream), destination('gone', gone)],
      routes: [
        {
          id: 'up',
          name: 'up',
          match: { path: '/up' },
          forward: { destinations: [{ destinationId: 'up' }] },
          errorPages: ofRoute,
        },
        { id: 'busy', name: 'busy', match: { path: '/busy' }, forward: { destinations: [{ destinationId: 'up' }] } },
        {
          id: 'gone',
          name: 'gone',
          match: { path: '/gone' },
          forward: { destinations: [{ destinationId: 'gone' }] },
          errorPages: ofRoute,
        },
      ],
    });
  }

  const raw = (path: string) =>
    rawExchange(port, `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`);

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  beforeEach(() => {
    bed = new ProxyBed();
  });

  afterEach(() => bed.end());

  it('takes the place of the body of proxy errors with its statuses, and of no other', async () => {
    await serve([{ statuses: ['404', '500-502'], bodyFrom: { text: '<b>${status} ${error}</b>' } }]);
    const nowhere = await ask('/nowhere');
    expect([nowhere.status, nowhere.text]).to.deep.equal([404, '<b>404 no_route</b>']);
    expect(nowhere.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect((await ask('/gone')).text).to.equal('<b>502 connection_refused</b>');
    expect(await raw('/up')).to.contain('from upstream');
    await serve([{ statuses: ['500'], bodyFrom: { text: 'x' } }]);
    expect((await ask('/nowhere')).text).to.contain('"error":"no_route"');
  });

  it('of the route comes before that of the listener, and the first of a list counts', async () => {
    const page = (text: string, ...statuses: string[]): ErrorPage => ({ statuses, bodyFrom: { text } });
    await serve([page('listener', '400-599')], [page('first', '502'), page('second', '500-599')]);
    expect((await ask('/gone')).text).to.equal('first');
    expect((await ask('/nowhere')).text).to.equal('listener');
  });

  it('escapes what clients sent, for HTML and JSON, and leaves unknown placeholders', async () => {
    const fill = async (text: string, contentType?: string) => {
      await serve([{ statuses: ['404'], bodyFrom: { text }, ...(contentType && { contentType }) }]);
      return (await raw('/%3Cscript%3E"&\'x')).split('\r\n\r\n')[1] ?? '';
    };
    expect(await fill('<p>${request.path} ${let} ${request.host}</p>')).to.match(
      /^<p>\/(%3Cscript%3E|&#60;script&#62;)(&#34;|%22)&#38;&#39;x \$\{let\} a\.example<\/p>$/,
    );
    const json = JSON.parse(await fill('{"path":"${request.path}","status":${status}}', 'application/json'));
    expect(json.status).to.equal(404);
    expect(decodeURIComponent(json.path)).to.equal('/<script>"&\'x');
  });

  it('lets no client write a script or a style, whichever type the page has', async () => {
    const hostile = "/';globalThis.found=1;'*/(){}`$";
    const fill = async (text: string, contentType: string) => {
      await serve([{ statuses: ['404'], bodyFrom: { text }, contentType }]);
      return (await raw(hostile)).split('\r\n\r\n')[1] ?? '';
    };
    for (const type of ['Text/HTML', 'image/svg+xml', 'application/xhtml+xml'])
      expect(await fill('${request.path}', type), type).to.not.match(/[<>'"`]/);
    for (const type of ['text/javascript', 'application/javascript', 'Application/ECMAScript; charset=utf-8'])
      for (const quote of ["'", '"', '`']) {
        const scope: { path?: string; found?: number } = {};
        new Function('globalThis', await fill(`globalThis.path = ${quote}\${request.path}${quote}`, type))(scope);
        expect(decodeURIComponent(scope.path ?? ''), `${type} ${quote}`).to.equal(hostile);
        expect(scope.found, `${type} ${quote}`).to.equal(undefined);
      }
    const style = await fill("a::after { content: '${request.path}' }", 'text/css');
    expect(style).to.match(/^a::after \{ content: '[^'"{}();]*' \}$/);
  });

  it('takes the place of an upstream’s body by choice alone, and keeps the rest of its head', async () => {
    await serve([{ statuses: ['503', '404'], bodyFrom: { text: 'kept' } }]);
    expect(await raw('/busy')).to.contain('from upstream');
    await serve([{ statuses: ['503'], bodyFrom: { text: '<p>busy ${status}</p>' }, ...html, upstream: true }]);
    for (let i = 0; i < 3; i++) {
      const { status, text, headers } = await ask('/busy');
      expect([status, text]).to.deep.equal([503, '<p>busy 503</p>']);
      expect(headers.get('retry-after')).to.equal('7');
      expect(headers.get('content-type')).to.equal(html.contentType);
      expect([headers.get('etag'), headers.get('content-encoding')]).to.deep.equal([null, null]);
      expect(headers.get('content-length')).to.equal('15');
    }
  });

  it('is not sent to HEAD, nor to a call of gRPC', async () => {
    await serve([{ statuses: ['404'], bodyFrom: { text: '<p>gone</p>' } }]);
    const head = await ask('/nowhere', { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('content-length')]).to.deep.equal([404, '', '11']);
    const call = await ask('/nowhere', { method: 'POST', headers: { 'content-type': 'application/grpc' } });
    expect(call.text).to.not.contain('gone');
  });

  it('with the method in it has the length for HEAD that GET gets', async () => {
    await serve([{ statuses: ['404', '503'], bodyFrom: { text: '<p>${request.method}</p>' }, upstream: true }]);
    for (const path of ['/nowhere', '/busy']) {
      expect((await ask(path)).text, path).to.equal('<p>GET</p>');
      expect((await ask(path, { method: 'HEAD' })).headers.get('content-length'), path).to.equal('10');
    }
    expect((await ask('/nowhere', { method: 'POST' })).text).to.equal('<p>POST</p>');
  });

  it('that is compressed has no length for HEAD, and no type', async () => {
    const page = { statuses: ['502'], bodyFrom: { text: `<p>${'gone '.repeat(500)}</p>` } };
    port = await freePort();
    await bed.install({
      ...forwarding(port, await freePort(), { listener: { errorPages: [page] }, route: { middlewareIds: ['m'] } }),
      middlewares: [{ id: 'm', name: 'm', type: 'compress', compress: {} }],
    });
    const of = async (method: string, coding: string) => {
      const { headers } = await ask('/', { method, headers: { 'accept-encoding': coding } });
      return ['content-type', 'content-encoding', 'content-length', 'vary'].map((name) => headers.get(name));
    };
    const type = 'text/html; charset=utf-8';
    expect(await of('GET', 'gzip')).to.deep.equal([type, 'gzip', null, 'Accept-Encoding']);
    expect(await of('HEAD', 'gzip')).to.deep.equal([null, 'gzip', null, 'Accept-Encoding']);
    expect(await of('GET', 'identity')).to.deep.equal([type, null, '2507', 'Accept-Encoding']);
    expect(await of('HEAD', 'identity')).to.deep.equal([null, null, '2507', 'Accept-Encoding']);
  });
});
