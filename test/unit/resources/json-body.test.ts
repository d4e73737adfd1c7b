import { expect } from 'chai';
import { objectIn, optionalBody } from '../../../src/resources/json-body.ts';
import { drain } from '../../../src/util/time-slice.ts';
import { refusal } from '../../support/refusal.ts';
import { rejection } from '../../support/rejection.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const objectBody = (body: Buffer) => drain(objectIn(body));

describe('request body', () => {
  it('is a JSON object', () => {
    expect(objectBody(bytes(' {"a":{"b":[1,null,"ü"]}} '))).to.deep.equal({ a: { b: [1, null, 'ü'] } });
  });

  for (const text of ['', ' ', '{', '[]', 'null', '1', '"a"', '{"a":1,}', '\ufeff{}', "{'a':1}", 'a=b&c=d']) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(refusal(() => objectBody(bytes(text)))).to.include({ code: 'INVALID' });
    });
  }

  it('may be missing, null or an object where none is needed', async () => {
    for (const text of ['', 'null', '{}']) expect(await optionalBody(bytes(text))).to.deep.equal({});
    for (const text of ['[]', '0', '{'])
      expect(await rejection(optionalBody(bytes(text)))).to.include({ code: 'INVALID' });
  });

  it('holds no prototype key at any depth, however it is spelled', () => {
    for (const text of ['{"__proto__":{"x":1}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":1}']) {
      expect(refusal(() => objectBody(bytes(text))).message).to.contain('__proto__');
    }
    expect(Object.hasOwn(Object.prototype, 'x')).to.equal(false);
  });

  it('keeps keys that only look like properties of objects', () => {
    expect(objectBody(bytes('{"constructor":{"prototype":1},"toString":2}'))).to.have.own.property('constructor');
  });

  it('is nested at most 64 levels, and is refused without exhausting the stack', () => {
    const nested = (depth: number): Buffer => bytes(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(objectBody(nested(64))).to.have.property('a');
    expect(refusal(() => objectBody(nested(65))).message).to.contain('nested');
    expect(refusal(() => objectBody(nested(500_000))).message).to.contain('nested');
  });

  it('is well-formed text with finite numbers, so that it survives being stored', () => {
    for (const text of ['{"a":1e999}', '{"a":-1e999}', '{"a":"\\ud800"}', '{"\\udc00":1}']) {
      expect(refusal(() => objectBody(bytes(text)))).to.include({ code: 'INVALID' });
    }
    expect(refusal(() => objectBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).message).to.contain(
      'UTF-8',
    );
  });

  it('is never quoted in the refusal, since it may hold a secret', () => {
    const { message } = refusal(() => objectBody(bytes('{"value":"CANARY" oops}')));
    expect(message)
      .to.match(/^body is not valid JSON/)
      .and.not.contain('CANARY')
      .and.not.contain('oops');
  });
});
