import { expect } from 'chai';
import type { HeadersConfig } from '../../../../src/model/middleware/headers-options.ts';
import { buildHeaders } from '../../../../src/proxy/middleware/headers.ts';
import { ask, StubExchange } from '../../../support/stub-exchange.ts';

const sent = (config: HeadersConfig, fields: readonly string[]) => {
  const exchange = new StubExchange({ fields, path: '/p' });
  expect(ask(buildHeaders(config), exchange)).to.equal(undefined);
  return exchange.sent;
};
const answered = (config: HeadersConfig, response: readonly string[], fields: readonly string[] = []) =>
  new StubExchange({ fields, method: 'PUT' }).respond(200, response, buildHeaders(config));

describe('middleware headers (contract.md §8.3)', () => {
  it('requestHeadersToAdd replaces by default, in upper or lower case', () => {
    const config = { requestHeadersToAdd: [{ key: 'X-A', value: 'new' }] };
    expect(sent(config, ['x-a', '1', 'X-B', '2', 'X-A', '3'])).to.deep.equal(['X-B: 2', 'X-A: new']);
  });

  it('when: adds a request field where the condition is true, and none where it fails', () => {
    const config = {
      requestHeadersToAdd: [
        { key: 'X-A', value: '1', when: '!("x-a" in request.headers)' },
        { key: 'X-B', value: '2', when: 'request.headers["x-a"] == "0"' },
        { key: 'X-C', value: '3', when: 'request.path == "/p"' },
      ],
    };
    expect(sent(config, [])).to.deep.equal(['X-A: 1', 'X-C: 3']);
    expect(sent(config, ['X-A', '0'])).to.deep.equal(['X-A: 0', 'X-B: 2', 'X-C: 3']);
  });

  it('when: sees the request as it came to the middleware, not its other edits', () => {
    const config = {
      requestHeadersToAdd: [
        { key: 'X-A', value: '1' },
        { key: 'X-B', value: '2', when: '"x-a" in request.headers' },
      ],
    };
    expect(sent(config, [])).to.deep.equal(['X-A: 1']);
  });

  it('when: adds a response field by status and request', () => {
    const config = {
      responseHeadersToAdd: [
        { key: 'X-A', value: '1', when: 'response.status == 200' },
        { key: 'X-B', value: '2', when: 'response.status >= 500' },
        { key: 'X-C', value: '3', when: 'request.method == "PUT" && has(response.status)' },
        { key: 'X-D', value: '4', when: 'request.headers["none"] == "x"' },
      ],
    };
    expect(answered(config, [])).to.deep.equal(['X-A: 1', 'X-C: 3']);
  });

  it('${request.id} is one text for all fields of a request and its response', () => {
    const exchange = new StubExchange();
    const edit = { key: 'X-Id', value: '${request.id}' };
    const middleware = buildHeaders({ requestHeadersToAdd: [edit], responseHeadersToAdd: [edit] });
    expect(ask(middleware, exchange)).to.equal(undefined);
    expect(exchange.respond(200, [], middleware)).to.deep.equal(exchange.sent);
  });

  it('append: true adds another field line', () => {
    const config = { requestHeadersToAdd: [{ key: 'X-A', value: 'new', append: true }] };
    expect(sent(config, ['x-a', '1'])).to.deep.equal(['x-a: 1', 'X-A: new']);
  });

  it('requestHeadersToRemove comes second: what was added goes as well', () => {
    const config = {
      requestHeadersToAdd: [
        { key: 'X-A', value: '1' },
        { key: 'X-B', value: '2' },
      ],
      requestHeadersToRemove: ['x-a', 'X-C'],
    };
    expect(sent(config, ['x-c', '3'])).to.deep.equal(['X-B: 2']);
  });

  it('additions come in order: a later one sees what an earlier one set', () => {
    const config = {
      requestHeadersToAdd: [
        { key: 'X-A', value: '${request.path}' },
        { key: 'X-B', value: '[${request.header.x-a}]' },
      ],
    };
    expect(sent(config, [])).to.deep.equal(['X-A: /p', 'X-B: [/p]']);
  });

  it('responseHeadersToAdd, then responseHeadersToRemove; values tell of the request', () => {
    const config = {
      responseHeadersToAdd: [
        { key: 'X-A', value: '${request.method}' },
        { key: 'X-B', value: 'b', append: true },
        { key: 'X-C', value: 'c' },
      ],
      responseHeadersToRemove: ['X-C', 'server'],
    };
    const response = ['X-A', 'old', 'X-B', 'old', 'Server', 'nginx'];
    expect(answered(config, response)).to.deep.equal(['X-B: old', 'X-A: PUT', 'X-B: b']);
  });

  it('Host as a request header is replaced, never doubled, never removed', () => {
    const config = {
      requestHeadersToAdd: [{ key: 'Host', value: 'inner.example.com', append: true }],
      requestHeadersToRemove: ['host'],
    };
    expect(sent(config, ['Host', 'shop.example.com'])).to.deep.equal(['Host: inner.example.com']);
  });

  it('hop-by-hop names and framing are ignored', () => {
    const names = ['Connection', 'Keep-Alive', 'Transfer-Encoding', 'Content-Length', 'Upgrade', 'TE', 'Trailer'];
    const config = {
      requestHeadersToAdd: names.map((key) => ({ key, value: 'x' })),
      requestHeadersToRemove: names,
      responseHeadersToAdd: names.map((key) => ({ key, value: 'x' })),
      responseHeadersToRemove: names,
    };
    const fields = ['Content-Length', '3', 'TE', 'trailers'];
    expect(sent(config, fields)).to.deep.equal(['Content-Length: 3', 'TE: trailers']);
    expect(answered(config, ['Content-Length', '3'])).to.deep.equal(['Content-Length: 3']);
  });

  it('without a block has no phase to run', () => {
    const { dryRun, ...others } = buildHeaders(undefined);
    expect(dryRun).to.be.a('function');
    expect(others).to.deep.equal({ alone: {} });
  });
});
