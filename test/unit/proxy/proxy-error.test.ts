import { expect } from 'chai';
import { proxyError, renderProxyError } from '../../../src/proxy/message/proxy-error.ts';

describe('a proxy error', () => {
  const error = proxyError('connection_refused', { destination: 'd', endpoint: '10.0.1.14:8080' });
  const at = Date.UTC(2026, 2, 30, 14, 22, 1, 987);

  it('says type and status at minimal', () => {
    expect(renderProxyError(error, 'minimal', at)).to.equal('{"error":"connection_refused","status":502}');
  });

  it('adds the message at standard', () => {
    const text = '{"error":"connection_refused","status":502,"message":"upstream connection refused"}';
    expect(renderProxyError(error, 'standard', at)).to.equal(text);
  });

  it('adds where and when at full, in this order', () => {
    expect(renderProxyError(error, 'full', at)).to.equal(
      '{"error":"connection_refused","status":502,"message":"upstream connection refused",' +
        '"destination":"d","endpoint":"10.0.1.14:8080","timestamp":"2026-03-30T14:22:01Z"}',
    );
  });

  it('leaves out at full what is not known', () => {
    const keys = Object.keys(JSON.parse(renderProxyError(proxyError('no_route'), 'full', at)));
    expect(keys).to.deep.equal(['error', 'status', 'message', 'timestamp']);
  });
});
