import { expect } from 'chai';
import fc from 'fast-check';
import { CommandNotUnderstood, decodeCommand, encodeCommand } from '../../../src/state/command-codec.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { Cipher } from '../../../src/state/encryption.ts';
import type { RolloutPlan } from '../../../src/state/rollout.ts';
import { anyText } from '../../support/any-text.ts';
import { activate, batch, capture, discard, put, remove, rollout } from '../../support/commands.ts';

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const cipher = new Cipher(new Uint8Array(32).fill(1));

describe('command bytes', () => {
  const commands = [
    put('routes', 'a', { match: {} }, { ifMatch: '*', idempotency: { scope: 's', bodyHash: 'h' } }),
    remove('snapshots', 'a', { ifMatch: [1, 2] }),
    capture('a', { values: { '{{secret:env:E}}': 'e' }, holdsWrites: true }),
    activate('a'),
    { ...activate('a'), trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    batch([]),
    batch(
      [
        { op: 'upsert', kind: 'routes', by: 'name', id: 'a', spec: { name: 'line\nbreak' } },
        { op: 'delete', kind: 'secrets', by: 'name', name: 's', missingOk: true, ifMatch: [3] },
      ],
      { snapshot: { id: 's', name: 's', createdAt: 'now', checkedAt: 0, values: {}, activate: true } },
    ),
    batch([], {
      owner: 'shop',
      prune: ['routes', 'secrets'],
      ifMatch: [7],
      snapshot: {
        ...{ id: 's', name: 's', createdAt: 'now', checkedAt: 0, values: {}, activate: true },
        ...{ owner: 'shop', labels: { env: 'test' }, base: 3, keep: 2 },
      },
    }),
    discard({ owner: 'shop', ifMatch: [7] }),
    discard({ entities: [['routes', 'a']] }),
  ];

  for (const command of commands) {
    it(`carry ${command.op} there and back`, () => {
      expect(decodeCommand(encodeCommand(command))).to.deep.equal(command);
      expect(decodeCommand(encodeCommand(command, cipher), cipher)).to.deep.equal(command);
    });
  }

  const plan: RolloutPlan = {
    steps: [
      { shadow: true, holdMs: 1 },
      { share: 100, holdMs: 0 },
    ],
    ...{ by: 'client', key: { header: 'x-tenant' }, shadowSample: 2, guards: ['true'], onFail: 'pause' },
    ...{ minRequests: 0, checkIntervalMs: 1, failures: 1, deadmanMs: 1, maxStepMs: 1 },
  };
  const start = rollout('r', { action: 'start', snapshotId: 'a', plan });

  it('carry a rollout there and back', () => expect(decodeCommand(encodeCommand(start))).to.deep.equal(start));

  const planFlaws: readonly object[] = [
    ...[0, 'all', 1.5, -1].map((shadowSample) => ({ shadowSample })),
    ...[[], 7, [{}], [{ share: 0, holdMs: 0 }], [{ share: 101, holdMs: 0 }]].map((steps) => ({ steps })),
    ...[[{ shadow: false, holdMs: 1 }], [{ labels: { a: 1 }, holdMs: 1 }], [{ share: 1 }]].map((steps) => ({ steps })),
    ...[[7], 'true'].map((guards) => ({ guards })),
    ...[{ by: 'route' }, { key: 'cookie' }, { onFail: 'go on' }],
    ...['minRequests', 'checkIntervalMs', 'failures', 'deadmanMs', 'maxStepMs'].map((name) => ({ [name]: -1 })),
  ];

  for (const flaw of planFlaws) {
    it(`are malformed with the plan of a rollout that has ${JSON.stringify(flaw)}`, () => {
      expect(decodeCommand(bytesOf({ ...start, plan: { ...plan, ...flaw } })).op).to.equal('malformed');
    });
  }
  it('have the text of an entity as it was written, beside any other text', () => {
    const tricky = fc.constantFrom(',"spec":', '","spec":{"', '{"spec":{}}', '\\","spec":', '}');
    const text = fc.oneof(anyText(10), tricky);
    const value = fc.oneof(fc.jsonValue(), text).map((each): unknown => JSON.parse(JSON.stringify(each)));
    fc.assert(
      fc.property(text, text, value, (scope, bodyHash, x) => {
        const command = put('routes', 'a', { x, spec: x }, { idempotency: { scope, bodyHash } });
        const decoded = decodeCommand(encodeCommand(command));
        expect(decoded).to.deep.equal(command);
        expect(decoded.op === 'put' && decoded.spec.json).to.equal(command.spec.json);
        // Earlier programs write the text of what they have read.
        const read = JSON.parse(Buffer.from(encodeCommand(command)).toString()) as { readonly spec: object };
        expect(JSON.stringify(read.spec)).to.equal(command.spec.json);
      }),
    );
  });

  it('of earlier programs, whose entity does not stand last, are read as well', () => {
    const { op, kind, id, mode, spec, ...rest } = put('routes', 'a', { x: { spec: {} } });
    expect(decodeCommand(bytesOf({ op, kind, id, mode, spec, ...rest }))).to.deep.equal(
      put('routes', 'a', spec.fields, rest),
    );
  });

  const flaws: [string, unknown][] = [
    ['a rollout of a snapshot without an id', { ...start, snapshotId: 'a/b' }],
    ['a rollout that does something unknown', { ...start, action: 'stop' }],
    ['a rollout that fails for no reason', { ...start, action: 'fail', epoch: 1 }],
    ['a step of a rollout in no epoch', { ...start, action: 'advance' }],
    ['a step of a rollout with counts of shadows that are none', { ...start, action: 'advance', epoch: 1, shadow: {} }],
    ['a promotion that ends or does not', { ...start, action: 'promote', finish: false }],
    ['not JSON', undefined],
    ['a list', []],
    ['no version', { ...activate('a'), v: undefined }],
    ['no request id', { ...activate('a'), requestId: {} }],
    ['no time', { ...activate('a'), time: 'now' }],
    ['a negative time', { ...activate('a'), time: -1 }],
    ['an id that is none', { ...activate('a'), id: 'a/b' }],
    ['an unknown kind', { ...put('routes', 'a'), kind: 'clusters' }],
    ['a delete of an unknown kind', { ...remove('routes', 'a'), kind: 'clusters' }],
    ['a put of a snapshot', { ...put('routes', 'a'), kind: 'snapshots' }],
    ['a spec without a name', { ...put('routes', 'a'), spec: {} }],
    ['an unknown mode', { ...put('routes', 'a'), mode: 'upsert' }],
    ['an If-Match of text', { ...activate('a'), ifMatch: ['1'] }],
    ['values that are no text', { ...capture('a'), values: { x: 1 } }],
    ['a hold that is neither there nor absent', { ...capture('a'), holdsWrites: false }],
    ['a batch without operations', { ...batch([]), operations: undefined }],
    ['a batch whose snapshot has no id', { ...batch([]), operations: 0, snapshot: {} }],
    ['a batch of an owner that is no text', { ...batch([]), operations: 0, owner: 7 }],
    ['a batch that prunes snapshots', { ...batch([]), operations: 0, prune: ['snapshots'] }],
    ['a discard of a snapshot', { ...discard({}), entities: [['snapshots', 'a']] }],
    ['a discard of an owner that is no text', { ...discard({}), owner: 7 }],
    ['no operation', { ...activate('a'), op: undefined }],
  ];

  for (const [what, value] of flaws) {
    it(`are malformed with ${what}`, () => {
      const bytes = value === undefined ? Buffer.from('nonsense') : bytesOf(value);
      expect(decodeCommand(bytes).op).to.equal('malformed');
    });
  }

  it('stop this node when a newer program wrote them', () => {
    for (const newer of [
      { ...activate('a'), op: 'rename' },
      { ...activate('a'), v: 2 },
    ]) {
      expect(() => decodeCommand(bytesOf(newer))).to.throw(CommandNotUnderstood);
    }
  });

  it('stop this node when its encryption setting is another one', () => {
    const sealed = encodeCommand(activate('a'), cipher);
    expect(() => decodeCommand(sealed)).to.throw(CommandNotUnderstood, 'encryption is off');
    expect(() => decodeCommand(bytesOf(activate('a')), cipher)).to.throw(CommandNotUnderstood, 'encryption is on');
    expect(() => decodeCommand(sealed, new Cipher(new Uint8Array(32)))).to.throw(CommandNotUnderstood, 'another');
  });

  it('that are malformed become a result that is kept, and nothing else', () => {
    const state = new ConfigState();
    const { requestId } = activate('a');
    const entry = (index: number) => ({
      index,
      command: { op: 'malformed' as const, why: 'names no kind', requestId },
    });
    const [first] = state.prepare([entry(1)], 1).results;
    expect(first?.result).to.deep.include({ index: 1, status: 400, error: 'the command names no kind' });
    const round = state.prepare([entry(2), { index: 3, command: { op: 'malformed', why: 'is not a JSON object' } }], 3);
    expect(round.results.map(({ result }) => result.index)).to.deep.equal([1, 3]);
  });
});
