import { expect } from 'chai';
import fc from 'fast-check';
import type { Batch } from '../../../src/state/command.ts';
import { decodeCommand, encodeCommand } from '../../../src/state/command-codec.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { Cipher } from '../../../src/state/encryption.ts';
import { type OperationDraft, operationLine } from '../../../src/state/operation-lines.ts';
import { OperationPacker, PackedOperations } from '../../../src/state/packed-operations.ts';
import { applyAll, batch } from '../../support/commands.ts';

const upsert = (n: number, value = 'x'): OperationDraft => ({
  ...{ op: 'upsert', kind: 'secrets', by: 'id', id: `s${n}` },
  spec: { name: `s${n}`, value },
});

function packed(operations: readonly OperationDraft[]): PackedOperations {
  const packer = new OperationPacker();
  for (const operation of operations) packer.add(Buffer.from(operationLine(operation)));
  return packer.finish();
}

const packedBatch = (operations: readonly OperationDraft[]): Batch => ({
  ...batch([]),
  operations: packed(operations),
});

describe('packed operations', () => {
  it('are those that were packed, in blocks of any number', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(300_000)), { maxLength: 8 }), (drawn) => {
        const operations = drawn.map(([n, length]) => upsert(n, 'é\n'.repeat(length)));
        expect(JSON.parse(JSON.stringify([...packed(operations)]))).to.deep.equal(operations);
      }),
      { numRuns: 20 },
    );
  });

  it('go through the log under a name of their own, sealed and not', () => {
    const command = packedBatch([upsert(1), upsert(2)]);
    const cipher = new Cipher(new Uint8Array(32).fill(1));
    for (const seal of [undefined, cipher]) {
      const decoded = decodeCommand(encodeCommand(command, seal), seal) as Batch;
      expect({ ...decoded, operations: [...decoded.operations] }).to.deep.equal({
        ...command,
        operations: [...command.operations],
      });
    }
    // A program that cannot open them stops, and does not take them for operations of its own.
    expect(Buffer.from(encodeCommand(command)).toString('latin1')).to.match(/^\{[^\n]*"op":"packedBatch"/);
  });

  it('that are damaged are no operations from there on, at every byte', () => {
    const { count, bytes } = packed([upsert(1), upsert(2)]);
    for (let at = 0; at < bytes.length; at++) {
      const short = [...new PackedOperations(count, bytes.subarray(0, at))];
      expect(short.slice(0, -1)).to.not.include(undefined);
      if (at > 0) expect(short.at(-1)).to.equal(undefined);
    }
  });

  it('take effect as those of a usual batch, with a sum of their outcomes', () => {
    const operations = Array.from({ length: 150 }, (_, n) => upsert(n));
    const [one, other] = [new ConfigState(), new ConfigState()];
    const [listed] = applyAll(one, batch(operations));
    const [summed] = applyAll(other, packedBatch(operations));
    expect(other.get('secrets', 's149')).to.deep.equal(one.get('secrets', 's149'));
    expect(summed?.result.outcomes).to.equal(undefined);
    expect(summed?.result.sum).to.deep.equal({
      changed: 150,
      ids: listed?.result.outcomes?.slice(0, 100).map(([id]) => id),
      owned: [],
    });
  });

  it('of which one is refused leave nothing', () => {
    const state = new ConfigState();
    const refused: OperationDraft = { ...upsert(2), op: 'update' };
    const [applied] = applyAll(state, packedBatch([upsert(1), refused]));
    expect(applied?.result).to.include({ status: 404, operation: 1 });
    expect(state.get('secrets', 's1')).to.equal(undefined);
  });
});
