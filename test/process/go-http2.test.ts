// Go's net/http on both sides: it opens its windows by small steps, both of them each time, and long after the last byte.
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { ForeignProgram, goProgram } from '../support/foreign-program.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificate } from '../support/made-certificates.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const bodyBytes = 50_000_000;

describe('HTTP/2 of Go', () => {
  let website: ForeignProgram;
  let sluice: SluiceProcess;
  let url: string;

  before(async function () {
    needs(this, goProgram);
    website = new ForeignProgram(goProgram, ['website']);
    sluice = await startSluice();
    const api = apiClient(sluice.url);
    const port = await freePort();
    url = `https://127.0.0.1:${port}/`;
    const tls = makeCertificate({ dnsNames: ['sluice.test'] });
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port, http2: true, tls });
    const websitePort = await eventually(() => {
      expect(website.lines).not.to.be.empty;
      return Number(website.lines[0]);
    });
    const upstream = { name: 'up', host: '127.0.0.1', port: websitePort, options: { http2: true } };
    const destinationId = await api.create('destinations', upstream);
    await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId }] } });
    await api.activateAs('v1');
  });

  after(async () => {
    await sluice?.stop();
    await website?.stop();
  });

  for (const size of [1_000, 4_096, 32_768]) {
    it(`has 50 MB down in pieces of ${size} bytes`, async () => {
      const reading = new ForeignProgram(goProgram, ['read', url, String(size)]);
      expect(await reading.ended()).to.equal(`HTTP/2.0 ${bodyBytes}`);
    });
  }

  it('has 50 MB up, read there in pieces of 1,000 bytes', async () => {
    const writing = new ForeignProgram(goProgram, ['write', url, '1000']);
    expect(await writing.ended()).to.equal(`HTTP/2.0 HTTP/2.0 ${bodyBytes}`);
  });
});
