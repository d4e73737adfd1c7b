// PROXY protocol beside HAProxy and nginx, on both sides: what one writes, the other one reads.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Configuration } from '../../src/model/proxy-config.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { ProxyBed } from '../support/proxy-bed.ts';

/** Part of nginx that Debian has in a package of its own. */
const streamModule = '/usr/lib/nginx/modules/ngx_stream_module.so';

/** Address of the client, unlike that of every proxy. */
const client = '127.0.0.9';

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

const get = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: '127.0.0.1', localAddress: client, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject).end();
  });

describe('the PROXY protocol beside others', () => {
  let bed: ProxyBed;
  let port: number;
  let upstreamPort: number;
  const programs: ChildProcess[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-'));

  beforeEach(async function () {
    needs(this, 'haproxy', 'nginx');
    bed = new ProxyBed();
    port = await freePort();
    upstreamPort = await bed.upstream(({ headers }, response) => {
      response.end(`for ${headers['x-forwarded-for']}`);
    });
  });

  afterEach(async () => {
    for (const program of programs.splice(0)) {
      const gone = new Promise((resolve) => program.once('close', resolve));
      program.kill('SIGKILL');
      await gone;
    }
    await bed?.end();
  });

  const start = async (command: string, args: readonly string[], at: number): Promise<void> => {
    programs.push(spawn(command, [...args], { stdio: 'ignore' }));
    await eventually(async () => expect(await listens(at)).to.equal(true));
  };

  const haproxy = async (at: number, lines: string): Promise<void> => {
    const file = join(folder, `haproxy-${at}.cfg`);
    const times = 'timeout connect 5s\n timeout client 20s\n timeout server 20s\n';
    writeFileSync(file, `defaults\n ${times}${lines}\n`);
    await start('haproxy', ['-f', file, '-db'], at);
  };

  const nginx = async (at: number, blocks: string): Promise<void> => {
    const file = join(folder, `nginx-${at}.conf`);
    const common = `daemon off; pid ${folder}/nginx-${at}.pid; error_log /dev/null;`;
    writeFileSync(
      file,
      `${blocks.startsWith('stream') ? `load_module ${streamModule};` : ''}${common} events {} ${blocks}`,
    );
    await start('nginx', ['-c', file], at);
  };

  const install = (listener: object, options: object, to: number): Promise<void> =>
    bed.install({
      listeners: [{ id: 'l', name: 'l', port, ...listener }],
      destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: to, options }],
      routes: [{ id: 'r', name: 'r', forward: { destinations: [{ destinationId: 'd' }] } }],
      streamRoutes: [{ id: 's', name: 's', forward: { destinations: [{ destinationId: 'd' }] } }],
    } as Partial<Configuration>);

  for (const [version, word] of [
    ['1', 'send-proxy'],
    ['2', 'send-proxy-v2'],
    ['2 with TLVs', 'send-proxy-v2 proxy-v2-options unique-id,crc32c'],
  ] as const)
    it(`reads what HAProxy writes in version ${version}`, async () => {
      await install({ proxyProtocol: 'required', trustedProxies: ['127.0.0.1'] }, {}, upstreamPort);
      const front = await freePort();
      await haproxy(
        front,
        `frontend f\n mode tcp\n unique-id-format %{+X}o%ci\n bind 127.0.0.1:${front}\n default_backend b\nbackend b\n mode tcp\n server s 127.0.0.1:${port} ${word}`,
      );
      await eventually(async () => expect(await get(front)).to.equal(`for ${client}`));
    });

  it('reads what nginx writes', async function () {
    needs(this, streamModule);
    await install({ proxyProtocol: 'required', trustedProxies: ['127.0.0.1'] }, {}, upstreamPort);
    const front = await freePort();
    const server = `listen 127.0.0.1:${front}; proxy_pass 127.0.0.1:${port}; proxy_protocol on;`;
    await nginx(front, `stream { server { ${server} } }`);
    await eventually(async () => expect(await get(front)).to.equal(`for ${client}`));
  });

  for (const version of ['v1', 'v2'])
    for (const protocol of ['http', 'tcp'])
      it(`writes ${version} as HAProxy and nginx read it, from a listener of ${protocol}`, async () => {
        const [behind, nginxPort] = [await freePort(), await freePort()];
        await haproxy(
          behind,
          `frontend f\n mode http\n bind 127.0.0.1:${behind} accept-proxy\n http-request return status 200 content-type text/plain lf-string "for %[src]"`,
        );
        await install({ protocol }, { proxyProtocol: version }, behind);
        await eventually(async () => expect(await get(port)).to.equal(`for ${client}`));
        const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
          (name) => `${name}_temp_path ${folder}/${name};`,
        );
        await nginx(
          nginxPort,
          `http { access_log off; ${paths.join(' ')}
server { listen 127.0.0.1:${nginxPort} proxy_protocol; location / { return 200 "for $proxy_protocol_addr"; } } }`,
        );
        await install({ protocol }, { proxyProtocol: version }, nginxPort);
        await eventually(async () => expect(await get(port)).to.equal(`for ${client}`));
      });
});
