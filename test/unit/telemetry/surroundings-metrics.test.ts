import { tmpdir } from 'node:os';
import { expect } from 'chai';
import type { ProxyConfig } from '../../../src/model/proxy-config.ts';
import { CertificateEnds } from '../../../src/proxy/tls/certificate-ends.ts';
import { surroundingsMetrics } from '../../../src/telemetry/surroundings-metrics.ts';
import { makeCertificate } from '../../support/made-certificates.ts';
import { sampleOf } from '../../support/metric-lines.ts';

describe('metrics of the surroundings', () => {
  it('tell which listeners are open, when certificates end and how much room the disk has, and which lines were lost', async () => {
    const own = makeCertificate({ dnsNames: ['api.test'] });
    const web = makeCertificate({ dnsNames: ['web.test'] });
    const ends = new CertificateEnds({ 'controlPlane.tls': own.cert, 'controlPlane.raft.tls': undefined });
    const listener = { id: 'l', name: 'web', port: 443 };
    const tls = { cert: web.cert, key: web.key, certificates: [{ cert: 'no certificate', key: '' }, web] };
    ends.take({
      snapshot: {
        listeners: [
          { ...listener, tls },
          { ...listener, id: 'p', name: 'plain' },
        ],
      },
    } as unknown as ProxyConfig);
    const statuses = [
      { name: 'web', address: '0.0.0.0', port: 443, state: 'open' },
      { name: 'plain', address: '0.0.0.0', port: 80, state: 'waiting' },
    ];
    const registry = await surroundingsMetrics({
      listeners: () => statuses,
      certificates: () => ends.all,
      directories: [tmpdir(), '/no/such/directory'],
      lostLines: () => ({ process: 0, access: 7 }),
    });
    const text = await registry.metrics();
    expect(sampleOf(text, 'sluice_listener_open{listener="web",address="0.0.0.0:443"}')).to.equal(1);
    expect(sampleOf(text, 'sluice_listener_open{listener="plain",address="0.0.0.0:80"}')).to.equal(0);
    const nowS = Date.now() / 1_000;
    for (const [name, certificate] of [
      ['', 'controlPlane.tls'],
      ['web', 'tls'],
      ['web', 'tls/certificates/1'],
    ]) {
      const series = `sluice_certificate_expiry_seconds{listener="${name}",certificate="${certificate}"}`;
      expect(sampleOf(text, series), series).to.be.within(nowS, nowS + 20 * 365 * 86_400);
    }
    expect(text.match(/^sluice_certificate_expiry_seconds\{/gm)).to.have.length(3);
    expect(sampleOf(text, `sluice_disk_free_bytes{path="${tmpdir()}"}`)).to.be.above(0);
    expect(text.match(/^sluice_disk_free_bytes\{/gm)).to.have.length(1);
    // A series at 0 is there from the start, so that the first loss is an increase.
    expect(sampleOf(text, 'sluice_log_lines_lost_total{log="process"}')).to.equal(0);
    expect(sampleOf(text, 'sluice_log_lines_lost_total{log="access"}')).to.equal(7);
  });
});
