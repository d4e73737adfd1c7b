import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';
import { call } from '../support/http-call.ts';
import { rejection } from '../support/rejection.ts';

describe('listening', () => {
  it('rejects when the address is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const error = await rejection(ApiServer.start({ options: { address: { host: '127.0.0.1', port } } }));
    expect(error).to.have.property('code', 'EADDRINUSE');
    await once(other.close(), 'close');
  });

  it('takes connections on every interface when the host is empty', async () => {
    const api = await ApiServer.start({ options: { address: { host: '', port: 0 } } });
    expect(api.api.address.host).to.be.oneOf(['::', '0.0.0.0']);
    expect(await call(`http://127.0.0.1:${api.api.address.port}`, 'GET', '/healthz')).to.include({ status: 200 });
    await api.stop();
  });
});
