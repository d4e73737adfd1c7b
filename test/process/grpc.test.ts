// gRPC by a client and a server that others wrote, through activations and renewed certificates: no call fails.
import {
  type ChannelOptions,
  Client,
  credentials,
  Server,
  ServerCredentials,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { startSluice } from '../support/sluice-process.ts';

const same = (value: Buffer): Buffer => value;
const echo = {
  path: '/echo.Echo/Unary',
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
};

describe('gRPC', () => {
  it('calls go on through 20 activations, each fifth with another certificate', async () => {
    const server = new Server();
    const answer = (call: { request: Buffer }, done: (error: null, value: Buffer) => void): void =>
      done(null, call.request);
    server.addService({ unary: echo }, { unary: answer as unknown as UntypedHandleCall });
    const upstreamPort = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, port: number): void => (error === null ? resolve(port) : reject(error));
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), bound);
    });
    const authority = makeCertificate({ subject: [['CN', 'a']], authority: true });
    const renewed = () => makeCertificate({ dnsNames: ['sluice.test'], issuer: authority });
    const sluice = await startSluice();
    const api = apiClient(sluice.url);
    const port = await freePort();
    const listener = ({ cert, key }: { cert: string; key: string }) => ({
      ...{ name: 'grpc', address: '127.0.0.1', port, http2: true },
      tls: { cert, key },
    });
    const id = await api.create('listeners', listener(renewed()));
    const upstream = { name: 'up', host: '127.0.0.1', port: upstreamPort, options: { http2: true } };
    const destinationId = await api.create('destinations', upstream);
    await api.create('routes', { name: 'all', match: { grpc: true }, forward: { destinations: [{ destinationId }] } });
    await api.activateAs('v0');
    const options: ChannelOptions = {
      'grpc.ssl_target_name_override': 'sluice.test',
      'grpc.use_local_subchannel_pool': 1,
    };
    const secure = credentials.createSsl(Buffer.from(authority.cert));
    let activating = true;
    let served = 0;
    const failed: string[] = [];
    const calls = async (): Promise<void> => {
      while (activating) {
        const client = new Client(`127.0.0.1:${port}`, secure, options);
        for (let i = 0; i < 50 && activating; i++) {
          await new Promise<void>((resolve) => {
            client.makeUnaryRequest(echo.path, same, same, Buffer.from(`call ${i}`), (error, value) => {
              if (String(value) === `call ${i}`) served++;
              else failed.push(String(error));
              resolve();
            });
          });
        }
        client.close();
      }
    };
    const all = Promise.all(Array.from({ length: 6 }, calls));
    for (let n = 1; n <= 20; n++) {
      if (n % 5 === 0) expect((await api.put(`/listeners/${id}`, listener(renewed()))).status).to.equal(200);
      await api.activateAs(`v${n}`);
    }
    activating = false;
    await all;
    await sluice.stop();
    server.forceShutdown();
    expect(failed).to.deep.equal([]);
    expect(served).to.be.greaterThan(100);
  });
});
