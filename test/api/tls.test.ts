import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect } from 'chai';
import type { ApiTls } from '../../src/settings/control-plane-settings.ts';
import { ApiServer } from '../support/api-server.ts';
import { ca, client, server, stranger } from '../support/certificates.ts';
import { call } from '../support/http-call.ts';
import { rejection } from '../support/rejection.ts';

// contract.md §1.3 and §11 row 28.
describe('TLS', () => {
  let api: ApiServer;

  const start = async (more: Partial<ApiTls> = {}): Promise<void> => {
    api = await ApiServer.start({ options: { tls: { ...server, clientAuth: 'none', ...more } } });
  };

  afterEach(() => api.stop());

  const get = (tls: object = {}) => api.call('GET', '/routes', { tls: { ca, ...tls } });

  it('serves the API under its certificate, and never over plain HTTP', async () => {
    await start();
    expect(await get()).to.include({ status: 200, text: '[]' });
    const plain = await call(api.base.replace('https:', 'http:'), 'GET', '/api/v1/routes').catch(() => ({ status: 0 }));
    expect(plain.status).to.not.equal(200);
  });

  it('speaks TLS 1.2 and above', async () => {
    await start();
    const { port } = api.api.address;
    const handshake = async (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
      const ciphers = 'DEFAULT@SECLEVEL=0';
      const socket = connect({ host: '127.0.0.1', port, ca, minVersion: version, maxVersion: version, ciphers });
      await once(socket, 'secureConnect').finally(() => socket.destroy());
      return socket.getProtocol();
    };
    expect(await rejection(handshake('TLSv1.1'))).to.be.instanceOf(Error);
    await handshake('TLSv1.2');
    await handshake('TLSv1.3');
  });

  it('with clientAuth require serves only holders of a certificate of the CA', async () => {
    await start({ ca, clientAuth: 'require' });
    expect(await get(client)).to.include({ status: 200 });
    expect(await rejection(get())).to.be.instanceOf(Error);
    expect(await rejection(get(stranger))).to.be.instanceOf(Error);
  });

  it('with clientAuth optional serves clients without a certificate, and refuses one that does not verify', async () => {
    await start({ ca, clientAuth: 'optional' });
    expect(await get(client)).to.include({ status: 200 });
    expect(await get()).to.include({ status: 200 });
    expect(await rejection(get(stranger))).to.be.instanceOf(Error);
  });
});
