// gRPC by its implementations in C and in Go, on both sides of the proxy, over TLS: every kind of call, and ten thousand
// through changes.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiClient, apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { ForeignProgram, goProgram, python, pythonScript } from '../support/foreign-program.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { newFolder, type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const served = {
  unary: 'hello',
  large: true,
  serverStream: 2_000_000,
  clientStream: '2000000',
};

const implementations = [
  {
    language: 'Python',
    program: python,
    service: [pythonScript('echo_server.py')],
    client: [pythonScript('echo_client.py')],
    found: {
      ...served,
      metadata: { 'x-tenant': 'a, b', 'x-blob-bin': "b'\\x00\\x01\\xfe'" },
      trailers: { 'x-length': '5' },
      both: ['A', 'B', 'C'],
      fail: ['FAILED_PRECONDITION', 'not now: ä, 100 %', '00ff01'],
      unimplemented: 'UNIMPLEMENTED',
      deadline: 'DEADLINE_EXCEEDED',
      cancel: 'CANCELLED',
    },
  },
  {
    language: 'Go',
    program: goProgram,
    service: ['serve'],
    client: [],
    found: {
      ...served,
      metadata: ['a, b', '0001fe'],
      trailers: ['5'],
      both: 'A B C',
      fail: ['FailedPrecondition', 'not now: ä, 100 %', '00ff01'],
      unimplemented: 'Unimplemented',
      deadline: 'DeadlineExceeded',
      cancel: 'Canceled',
    },
  },
];

for (const { language, program, service, client: clientArgs, found } of implementations)
  describe(`gRPC in ${language}`, () => {
    let server: ForeignProgram;
    let sluice: SluiceProcess;
    let api: ApiClient;
    let port: number;
    let listenerId: string;
    let authorityFile: string;
    const authority = makeCertificate({ subject: [['CN', 'a']], authority: true });

    const listener = () => {
      const { cert, key } = makeCertificate({ dnsNames: ['sluice.test'], issuer: authority });
      return { name: 'grpc', address: '127.0.0.1', port, http2: true, tls: { cert, key } };
    };
    const client = (what: string, ...rest: string[]) =>
      new ForeignProgram(program, [...clientArgs, what, `127.0.0.1:${port}`, authorityFile, ...rest]);

    before(async function () {
      needs(this, program);
      server = new ForeignProgram(program, service);
      sluice = await startSluice();
      api = apiClient(sluice.url);
      port = await freePort();
      authorityFile = join(newFolder(), 'authority.pem');
      await writeFile(authorityFile, authority.cert);
      listenerId = await api.create('listeners', listener());
      const upstreamPort = await eventually(() => {
        expect(server.lines).not.to.be.empty;
        return Number(server.lines[0]);
      });
      const upstream = { name: 'up', host: '127.0.0.1', port: upstreamPort, options: { http2: true } };
      const destinationId = await api.create('destinations', upstream);
      const forward = { destinations: [{ destinationId }] };
      await api.create('routes', { name: 'all', match: { grpc: true }, forward });
      await api.activateAs('v0');
    });

    after(async () => {
      await sluice?.stop();
      await server?.stop();
    });

    it('passes unary calls, streams, large messages, metadata, details, deadlines and cancellations', async () => {
      expect(JSON.parse(await client('kinds').ended())).to.deep.equal(found);
      // The service got the deadline of the one, and a cancellation of both.
      const heard = await eventually(() => {
        expect(server.lines.slice(1)).to.have.lengthOf(2);
        return server.lines.slice(1).sort();
      });
      expect(heard[0]).to.match(/^cancelled [0-2]\.\d$/);
      expect(heard[1]).to.equal('cancelled none');
    });

    it('serves 10,000 calls across 100 activations and 20 renewed certificates', async () => {
      const calling = client('calls', '10000');
      for (let n = 1; n <= 100; n++) {
        if (n % 5 === 0) expect((await api.put(`/listeners/${listenerId}`, listener())).status).to.equal(200);
        await api.activateAs(`v${n}`);
      }
      expect(JSON.parse(await calling.ended())).to.deep.equal({ served: 10_000, failed: [] });
    });
  });
