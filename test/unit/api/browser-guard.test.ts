import { expect } from 'chai';
import { guardAgainstPages } from '../../../src/api/browser-guard.ts';
import { refusal } from '../../support/refusal.ts';

const request = (headers: Record<string, string>, { method = 'POST', localAddress = '127.0.0.1' } = {}) => ({
  method,
  localAddress,
  headers: { host: 'localhost:8080', ...headers },
});

describe('page guard', () => {
  for (const host of ['localhost', 'LocalHost:8080', '127.0.0.1:8080', '10.1.2.3', '[::1]:8080', 'sluice.example']) {
    it(`serves Host ${host} at a loopback address`, () => {
      guardAgainstPages(request({ host }), ['Sluice.Example']);
    });
  }

  for (const host of ['evil.test', 'localhost.evil.test', 'localhost@evil.test', '127.0.0.1.evil.test', '', 'a b']) {
    for (const localAddress of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      it(`refuses Host "${host}" at ${localAddress}`, () => {
        const guard = () => guardAgainstPages(request({ host }, { method: 'GET', localAddress }), []);
        expect(refusal(guard)).to.include({ code: 'FORBIDDEN' });
      });
    }
  }

  it('serves any Host at an address that is not loopback', () => {
    guardAgainstPages(request({ host: 'sluice.example' }, { localAddress: '10.0.0.5' }), []);
  });

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    for (const origin of ['http://evil.test', 'http://localhost:3000', 'https://localhost', 'null', 'file://', 'x']) {
      it(`refuses ${method} with Origin ${origin}`, () => {
        expect(refusal(() => guardAgainstPages(request({ origin }, { method }), []))).to.include({ code: 'FORBIDDEN' });
      });
    }

    it(`refuses ${method} that a page of another site sends without reading the answer`, () => {
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
      expect(refusal(() => guardAgainstPages(request(headers, { method }), []))).to.include({ code: 'FORBIDDEN' });
    });

    it(`refuses ${method} with Sec-Fetch-Mode no-cors alone`, () => {
      const headers = { 'sec-fetch-mode': 'no-cors' };
      expect(refusal(() => guardAgainstPages(request(headers, { method }), []))).to.include({ code: 'FORBIDDEN' });
    });
  }

  it('serves the explorer: its own origin, its own scripts, and a link to it from elsewhere', () => {
    guardAgainstPages(request({ origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }), []);
    guardAgainstPages(request({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }, { method: 'GET' }), []);
    guardAgainstPages(request({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, { method: 'GET' }), []);
  });

  it('takes a page behind a proxy that ends TLS for its own', () => {
    guardAgainstPages(request({ host: 'sluice.example', origin: 'https://sluice.example' }), ['sluice.example']);
  });

  it('refuses a form of another site, which navigates with a write', () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(refusal(() => guardAgainstPages(request(headers), []))).to.include({ code: 'FORBIDDEN' });
  });
});
