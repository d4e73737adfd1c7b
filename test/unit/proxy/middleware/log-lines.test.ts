import { expect } from 'chai';
import type { AccessLogConfig } from '../../../../src/model/middleware/access-log-options.ts';
import { LineBytes } from '../../../../src/proxy/access-log/line-bytes.ts';
import { buildAccessLog } from '../../../../src/proxy/middleware/access-log.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

describe('access log lines (contract.md §8.7)', () => {
  const clock = new ManualClock();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const exchange = () => {
    const made = new StubExchange({
      clock,
      method: 'PUT',
      path: '/a b',
      authority: 'shop.example.com:8080',
      scheme: 'https',
      fields: [
        'X-A',
        'one',
        'Authorization',
        'Bearer secret',
        'X-Evil',
        'a\tb\u009bc',
        'X-Quote',
        'say "hi" \\',
        'traceparent',
        `00-${traceId}-00f067aa0ba902b7-01`,
      ],
    });
    made.response.local(404, ['X-R', 'r', 'Set-Cookie', 'a=b'], new Uint8Array());
    made.responseBytes = 12;
    made.requestBytes = 3;
    made.attempts = 2;
    made.destinationId = 'd';
    made.endpoint = 'h:1';
    made.error = 'timeout';
    made.connectMs = 2.9;
    made.upstreamMs = 7.9;
    return made;
  };
  const lines = (config: Omit<AccessLogConfig, 'path'>, made = exchange()) => {
    const written: string[] = [];
    const bytes = new LineBytes();
    const sink = { begin: () => bytes, end: () => written.push(Buffer.from(bytes.take(0)).toString()) };
    const log = buildAccessLog({ path: 'x', ...config }, sink);
    log.onRequest?.(made.seen, 0);
    clock.advance(1234.5678);
    log.onFinish?.(made.seen, 0);
    return written;
  };
  const values = (template: string) => {
    const line = { fields: { v: template } };
    return lines({ json: true, onRequest: line, onResponse: line }).map((text): string => JSON.parse(text).v);
  };

  const rows: readonly (readonly [string, string, string])[] = [
    ['${request.method}', 'PUT', 'PUT'],
    ['${request.path}', '/a b', '/a b'],
    ['${request.host}', 'shop.example.com', 'shop.example.com'],
    ['${request.authority}', 'shop.example.com:8080', 'shop.example.com:8080'],
    ['${request.scheme}', 'https', 'https'],
    ['${request.clientIp}', '192.0.2.1', '192.0.2.1'],
    ['${request.listener.id} ${request.listener.name}', 'l1 edge', 'l1 edge'],
    ['${request.listener.port} ${request.listener.section}', '8080 shop', '8080 shop'],
    ['${request.header.x-a}', 'one', 'one'],
    ['${request.header.X-None}', '', ''],
    ['${request.header.Authorization}', '[redacted]', '[redacted]'],
    ['${request.bytes}', '0', '3'],
    ['${response.status}', '0', '404'],
    ['${response.bytes}', '0', '12'],
    ['${response.header.X-R}', '', 'r'],
    ['${response.header.set-cookie}', '', '[redacted]'],
    ['${duration.ms}', '0', '1234'],
    ['${duration.us}', '0', '1234567'],
    ['${duration.s}', '0.000', '1.235'],
    [
      '${snapshot.id} ${snapshot.name} ${snapshot.index} ${snapshot.role}',
      's snapshot 7 stable',
      's snapshot 7 stable',
    ],
    ['${route.name} ${route.id} [${group.name}]', 'route r []', 'route r []'],
    [
      '[${destination.id}] [${endpoint}] ${attempts} [${error}] ${upstream.ms}',
      '[] [] 0 [] 0',
      '[d] [h:1] 2 [timeout] 7',
    ],
    ['${upstream.connect.ms}', '0', '2'],
    ['${protocol}', 'HTTP/1.1', 'HTTP/1.1'],
    ['${tls.version}${tls.sni}', '', ''],
    ['${trace.id}', traceId, traceId],
    ['${nobody.knows} $ {id}', '${nobody.knows} $ {id}', '${nobody.knows} $ {id}'],
  ];
  for (const [template, before, after] of rows) {
    it(`${template} is ${JSON.stringify(before)}, then ${JSON.stringify(after)}`, () =>
      expect(values(template)).to.deep.equal([before, after]));
  }

  it('${id} is a UUID, the same for both lines, another for another exchange', () => {
    const [first, second] = values('${id}');
    expect(first).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(second).to.equal(first);
    expect(values('${id}')[0]).to.not.equal(first);
  });

  it('key=value: what a client sends ends no value and begins no field, for any characters', () => {
    const parsed = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/([^\s="]+)=("(?:[^"\\]|\\.)*"|[^\s="\\]*)(?: |\n)/gy)].map(([, key = '', value = '']) => [
          key,
          value.startsWith('"') ? JSON.parse(value) : value,
        ]),
      );
    const fields = {
      what: '${request.method} ${request.header.x-v}',
      v: '${request.header.x-v}',
      both: '${id}${id}',
      said: 'a=b "c"',
      end: 'end',
    };
    const values = [
      'plain',
      'a b',
      'x status=200',
      '"',
      'a" end="no',
      '\\',
      'a\\" b',
      "'",
      'ä\u00a0b',
      '=',
      'a\tb',
      '',
      ' ',
    ];
    for (const v of values) {
      const made = new StubExchange({ clock, path: '/', method: 'GET', fields: ['X-V', v] });
      const [line = ''] = lines({ onRequest: { fields } }, made);
      const { both, ...rest } = parsed(line);
      expect(both).to.match(/^(\S{36})\1$/);
      expect(rest, line).to.deep.equal({ what: `GET ${v}`, v, said: 'a=b "c"', end: 'end' });
    }
    expect(lines({ onRequest: { fields: { v: '${request.method}' } } })).to.deep.equal(['v=PUT\n']);
  });

  it('${id} that stands in one place of one line is a UUID too, and that of two places the same', () => {
    const onResponse = (v: string) => lines({ onResponse: { fields: { v } } }).join();
    const one = Array.from({ length: 600 }, () => onResponse('${id}'));
    for (const line of one)
      expect(line).to.match(/^v=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\n$/);
    expect(new Set(one).size).to.equal(600);
    expect(onResponse('${id} ${id}')).to.match(/^v="(\S{36}) \1"\n$/);
  });

  it('JSON: one object a line, all values text, fields in their order', () => {
    const fields = { z: '${response.status}', a: '${request.method}', m: 'x' };
    expect(lines({ json: true, onResponse: { fields } })).to.deep.equal(['{"z":"404","a":"PUT","m":"x"}\n']);
  });

  it('key=value: pairs joined by one space', () => {
    const fields = { z: '${response.status}', a: '${request.method}', path: '${request.path}' };
    expect(lines({ onRequest: { fields } })).to.deep.equal(['z=0 a=PUT path="/a b"\n']);
  });

  it('neither block, and blocks without fields: no line', () => {
    expect(lines({})).to.deep.equal([]);
    expect(lines({ onRequest: {}, onResponse: { fields: {} } })).to.deep.equal([]);
  });

  it('nothing that a client sends begins another line or another field (security.md S33)', () => {
    const made = new StubExchange({ clock, path: '/a\r\nstatus=200\u0000\u001b[31m\u007f', method: 'GET' });
    const fields = { path: '${request.path}', ua: '${request.header.x-none}' };
    expect(lines({ onRequest: { fields } }, made)).to.deep.equal([
      'path="/a\\r\\nstatus=200\\u0000\\u001b[31m\\u007f" ua=\n',
    ]);
    const [json = ''] = lines({ json: true, onRequest: { fields } }, made);
    expect(json.trimEnd()).to.match(/^[ -~]*$/);
    expect(JSON.parse(json)).to.deep.equal({ path: '/a\r\nstatus=200\u0000\u001b[31m\u007f', ua: '' });
  });

  it('JSON escapes quotes, backslashes, control characters and line separators of any kind', () => {
    const fields = { q: '${request.header.x-quote}', e: '${request.header.x-evil}', 'k"\n': 'v\u2028' };
    const [line = ''] = lines({ json: true, onRequest: { fields } });
    expect(line).to.equal('{"q":"say \\"hi\\" \\\\","e":"a\\tb\\u009bc","k\\"\\n":"v\\u2028"}\n');
  });
});
