// The vectors of contract.md §7.5 and §7.6: fleets of several versions and makes must send a client to the same place.
import { crc32 as zlibCrc } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  crc32,
  crcContinue,
  crcContinueDecimal,
  crcEnd,
  crcStart,
} from '../../../../../src/proxy/upstream/balance/crc32.ts';
import { built } from '../../../../../src/proxy/upstream/balance/hash-ring.ts';
import { maglevChoice, ringChoice } from '../../../../../src/proxy/upstream/balance/keyed-choice.ts';
import { rendezvousMembers, rendezvousOwner } from '../../../../../src/proxy/upstream/balance/rendezvous.ts';
import { servingSet } from './serving.ts';

describe('vectors of the contract', () => {
  it('level 1: the owners of sessions between stable 90 and canary 10', () => {
    const members = rendezvousMembers(['stable', 'canary']);
    const rows = [
      ['00000000000000000000000000000000', 1338692022, 'stable'],
      ['0123456789abcdef0123456789abcdef', 508162286, 'stable'],
      ['a3f1c2d4e5b60718293a4b5c6d7e8f90', 1955003353, 'stable'],
      ['00000000000000000000000000000015', 3936354247, 'canary'],
    ] as const;
    for (const [cookie, key, owner] of rows) {
      expect(crc32(`${cookie}:route-1`)).to.equal(key);
      expect(['stable', 'canary'][rendezvousOwner(key, members, [90, 10], Uint8Array.of(1, 1))]).to.equal(owner);
    }
  });

  it('level 2: RING_HASH and MAGLEV over three endpoints', () => {
    const set = servingSet(['10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.3:8080']).set;
    const ring = built(ringChoice(set.endpoints, 1024));
    const table = built(maglevChoice(set.endpoints, 65_537));
    const rows = [
      ['user-0', 1259690241, 3, 1],
      ['user-1', 2277464479, 3, 1],
      ['user-2', 154164860, 2, 2],
    ] as const;
    set.refresh();
    for (const [value, key, ofRing, ofTable] of rows) {
      expect(crc32(`${value}:dest-1`)).to.equal(key);
      expect(ring.pick(set, key)).to.equal(ofRing - 1);
      expect(table.pick(set, key)).to.equal(ofTable - 1);
    }
  });

  it('CRC-32 agrees with zlib, whole and continued', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), fc.nat(), (text, number) => {
        expect(crc32(text)).to.equal(zlibCrc(Buffer.from(text, 'latin1')));
        const continued = crcEnd(crcContinueDecimal(crcContinue(crcStart, text), number));
        expect(continued).to.equal(zlibCrc(Buffer.from(text + number, 'latin1')));
      }),
    );
  });
});
