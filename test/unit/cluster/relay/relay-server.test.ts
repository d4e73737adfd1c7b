import { expect } from 'chai';
import { relayKey, signedFields } from '../../../../src/cluster/relay/relay-credential.ts';
import type { RelayAnswer, RelayHead, RelayServer } from '../../../../src/cluster/relay/relay-server.ts';
import { encodeEnvelope, encodeTogether, peerBodyMax } from '../../../../src/cluster/relay/relay-wire.ts';
import type { ReceivedOutcome } from '../../../../src/cluster/relay/relayed-write.ts';
import { SluiceError } from '../../../../src/errors.ts';
import { encodeCommand } from '../../../../src/state/command-codec.ts';
import type { OperationDraft } from '../../../../src/state/operation-lines.ts';
import { batch } from '../../../support/commands.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { refusal as refusalOf } from '../../../support/refusal.ts';
import {
  applied,
  clusterId,
  createRoute,
  newNonce,
  relayServer,
  requestId,
  TakingTarget,
  token,
} from '../../../support/relay-bed.ts';

const envelope = { clusterId, requestId, command: createRoute(), remainingMs: 5_000 };
const wire = (fields: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(encodeEnvelope(envelope).body.toString()), ...fields }));
const batchOf = (operations: readonly OperationDraft[]): Uint8Array =>
  encodeCommand(batch(operations, { requestId, time: 1 }));
const commandOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

describe('relay server', () => {
  let target: TakingTarget;
  let server: RelayServer;
  const clock = new ManualClock();

  beforeEach(() => {
    target = new TakingTarget();
    server = relayServer({ target, clock });
  });

  const head = (fields: Partial<RelayHead> = {}): RelayHead => ({
    method: 'POST',
    path: '/sync/raft',
    authorization: undefined,
    contentDigest: undefined,
    remoteAddress: '203.0.113.9',
    isCertified: false,
    ...fields,
  });

  const signed = (body: Uint8Array, secret = token, unixMs = clock.nowMs()): RelayHead => {
    const request = { method: 'POST', path: '/sync/raft', body };
    const fields = signedFields(relayKey(secret), request, { unixMs, nonce: newNonce() });
    return head({ authorization: fields.authorization, contentDigest: fields['content-digest'] });
  };

  const take = (body: Uint8Array, from = signed(body)): Promise<RelayAnswer> => server.take(from, body);

  /** Status and text of what is thrown, and that the log saw nothing. */
  const refusal = async (run: () => Promise<unknown>): Promise<[number, string]> => {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      expect(target.taken).to.deep.equal([]);
      return [error.status, error.message];
    }
    throw new Error('it was not refused');
  };

  it('knows a member before the body, by the digest that it tells, and a stranger who tells one', () => {
    const body = encodeEnvelope(envelope).body;
    const known = signed(body);
    expect(server.admit(known)).to.equal(true);
    expect(server.admit({ ...known, contentDigest: undefined })).to.equal(false);
    const { contentDigest } = signed(Buffer.from('another body'));
    expect(refusalOf(() => server.admit({ ...known, contentDigest }))).to.include({ code: 'UNAUTHENTICATED' });
    expect(refusalOf(() => server.admit(signed(body, 'another-secret')))).to.include({ code: 'UNAUTHENTICATED' });
  });

  it('does not take a body for the one whose digest was told', async () => {
    const { body } = encodeEnvelope(envelope);
    expect(await refusal(() => take(Buffer.from('another body'), signed(body)))).to.deep.equal([401, 'invalid proof']);
  });

  it('hands a command that travels as it is to the log', async () => {
    const command = batchOf([
      { op: 'upsert', kind: 'secrets', by: 'id', id: 's', spec: { name: 's', value: 'x'.repeat(300_000) } },
    ]);
    const { path, body } = encodeEnvelope({ ...envelope, command });
    expect(path).to.equal('/sync/raft/large');
    expect(await server.takeLarge(signed(body), body)).to.include({ status: 200 });
    expect(target.taken[0]?.command).to.deep.equal(command);
    target.taken.length = 0;
    const cut = body.subarray(0, body.length - 10);
    expect(await refusal(() => server.takeLarge(signed(cut), cut))).to.deep.equal([
      400,
      'the command holds what is no operation',
    ]);
    const headless = command.subarray(0, 20);
    expect(await refusal(() => server.takeLarge(signed(headless), headless))).to.include(400);
  });

  it('hands a valid write to the log, bytes and request id as they came', async () => {
    const answer = await take(wire());
    expect(answer.status).to.equal(200);
    expect(JSON.parse(answer.body)).to.deep.equal({ index: 12, result: { status: 201, kind: 'routes', id: 'a' } });
    expect(target.taken).to.have.length(1);
    expect(target.taken[0]).to.deep.include({ requestId, remainingMs: 5_000 });
    expect(commandOf(target.taken[0]?.command ?? new Uint8Array())).to.equal(commandOf(envelope.command));
  });

  it('waits no longer than a client of the API does', async () => {
    await take(wire({ remainingMs: 3_600_000 }));
    expect(target.taken[0]).to.include({ remainingMs: 10_000 });
  });

  it('answers with a refusal of the state machine as with any result', async () => {
    const result = { ...applied, status: 409 as const, error: 'name "a" is taken' };
    server = relayServer({ clock, target: new TakingTarget(() => ({ outcome: 'applied', index: 12, result })) });
    const { status, body } = await take(wire());
    expect({ status, body: JSON.parse(body) }).to.deep.equal({
      status: 200,
      body: { index: 12, result: { status: 409, kind: 'routes', id: 'a', error: 'name "a" is taken' } },
    });
  });

  for (const [received, status, body] of [
    [{ outcome: 'not-leader', leader: undefined }, 421, { error: 'this node does not lead', leader: null }],
    [
      { outcome: 'not-leader', leader: { nodeId: 'c', address: '10.0.0.3:8080' } },
      421,
      { error: 'this node does not lead', leader: { nodeId: 'c', address: '10.0.0.3:8080' } },
    ],
    [{ outcome: 'not-applied', reason: 'overload' }, 503, { error: 'overload', outcome: 'not-applied' }],
    [{ outcome: 'unknown', reason: 'stepped down' }, 504, { error: 'stepped down', outcome: 'unknown' }],
  ] as const) {
    it(`says ${status} when the log says ${received.outcome}`, async () => {
      server = relayServer({ clock, target: new TakingTarget(() => received) });
      const answer = await take(wire());
      expect({ status: answer.status, body: JSON.parse(answer.body) }).to.deep.equal({ status, body });
    });
  }

  describe('several writes in one request', () => {
    const { requestId: id, remainingMs } = envelope;
    const together = (commands: readonly Uint8Array[]): Buffer =>
      encodeTogether(
        clusterId,
        commands.map((command) => ({ requestId: id, command, remainingMs })),
      );

    it('are answered each by itself, in their order', async () => {
      const unsound = createRoute({ spec: { directResponse: { status: 7 } } });
      const { status, body } = await take(together([createRoute(), unsound, createRoute()]));
      expect(status).to.equal(200);
      const { answers } = JSON.parse(body);
      expect(answers.map((answer: { status: number }) => answer.status)).to.deep.equal([200, 400, 200]);
      expect(answers[0].body.result).to.deep.include({ status: 201, id: 'a' });
      expect(answers[1].body.error).to.match(/^the spec at "/);
      expect(target.taken).to.have.length(2);
    });

    it('fail alone, for any reason that one of them has', async () => {
      let count = 0;
      const receive = (): ReceivedOutcome => {
        if (count++ === 1) throw new Error('something else');
        return { outcome: 'applied', index: 12, result: applied };
      };
      server = relayServer({ clock, target: new TakingTarget(receive) });
      const { body } = await take(together([createRoute(), createRoute(), createRoute()]));
      const { answers } = JSON.parse(body);
      expect(answers.map((answer: { status: number }) => answer.status)).to.deep.equal([200, 500, 200]);
      expect(answers[1].body).to.deep.equal({ error: 'something else', outcome: 'unknown' });
    });

    it('are refused as a whole when there are more than 64, none, or one is no envelope', async () => {
      for (const body of [
        together(Array.from({ length: 65 }, () => createRoute())),
        together([]),
        together([createRoute(), new Uint8Array()]),
        wire({ writes: 7 }),
        wire({ writes: [7] }),
        wire({ hop: 2, writes: [{ requestId: id, remainingMs, command: commandOf(createRoute()) }] }),
      ]) {
        expect((await refusal(() => take(body)))[0]).to.equal(400);
      }
    });

    it('keep their answers within what the other end reads', async () => {
      const result = { ...applied, replay: { spec: { name: 'x'.repeat(3 * 1024 * 1024) } } };
      server = relayServer({ clock, target: new TakingTarget(() => ({ outcome: 'applied', index: 12, result })) });
      const { body } = await take(together([createRoute(), createRoute(), createRoute()]));
      expect(body.length).to.be.lessThan(peerBodyMax);
      const statuses = JSON.parse(body).answers.map((answer: { status: number }) => answer.status);
      expect(statuses).to.deep.equal([200, 504, 504]);
    });
  });

  describe('S23: refuses before the log', () => {
    it('a request without credential', async () => {
      expect(await refusal(() => take(wire(), head()))).to.deep.equal([401, 'missing authorization header']);
    });

    it('an API key and a certificate in place of the proof', async () => {
      const bearer = head({ authorization: `Bearer ${token}`, isCertified: true, remoteAddress: '127.0.0.1' });
      expect(await refusal(() => take(wire(), bearer))).to.deep.equal([
        401,
        'authorization header must use Sluice scheme',
      ]);
    });

    it('the proof of another token, of another body, of another time', async () => {
      const body = wire();
      expect(await refusal(() => take(body, signed(body, 'another token of 16')))).to.deep.equal([
        401,
        'invalid proof',
      ]);
      expect(await refusal(() => take(body, signed(wire({ hop: 2 }))))).to.deep.equal([401, 'invalid proof']);
      const old = signed(body, token, clock.nowMs() - 30_001);
      expect(await refusal(() => take(body, old))).to.deep.equal([
        401,
        'the proof is of another time: the clocks of the two nodes differ by 30 s',
      ]);
    });

    it('a request that comes a second time', async () => {
      const body = wire();
      const from = signed(body);
      await take(body, from);
      target.taken.length = 0;
      expect(await refusal(() => take(body, from))).to.deep.equal([401, 'the proof was used already']);
    });

    const envelopes: [string, Buffer, string][] = [
      ['a body that is no JSON', Buffer.from('{'), 'body is not a JSON object'],
      ['a list', Buffer.from('[]'), 'body is not a JSON object'],
      ['another version of the wire', wire({ v: 2 }), 'version of the relay is not 1'],
      ['a second hop', wire({ hop: 2 }), 'a write is relayed once'],
      ['no cluster', wire({ clusterId: '' }), 'clusterId is missing'],
      ['another cluster', wire({ clusterId: 'b' }), 'the write is for cluster b, this node is of cluster cluster-a'],
      ['no request id', wire({ requestId: { origin: 'b' } }), 'requestId is missing'],
      ['a command that is no base64', wire({ command: '{"v":1}' }), 'command is not base64'],
      ['no time left', wire({ remainingMs: 0 }), 'remainingMs must be a positive integer'],
      [
        'the request id of another write',
        wire({ requestId: { ...requestId, seq: 4 } }),
        'the request id of the command is another one',
      ],
    ];
    const commands: [string, Uint8Array, string][] = [
      ['bytes that are no command', Buffer.from('x'), 'the command is not a JSON object'],
      ['a command without operation', createRoute({ op: undefined }), 'the command has no operation'],
      [
        'a command of a newer version',
        Buffer.from(JSON.stringify({ v: 2, requestId })),
        'the command is not understood: command version 2',
      ],
      [
        'an operation of a newer version',
        Buffer.from(JSON.stringify({ v: 1, op: 'drop', requestId })),
        'the command is not understood: command "drop"',
      ],
      [
        'a resource that its schema refuses',
        createRoute({ spec: { match: { pathRegex: '(' } } }),
        'the spec at "/match/pathRegex"',
      ],
      [
        'a resource with a text of another form than nodes write',
        Buffer.from(Buffer.from(createRoute()).toString().replace('"name":"a"', '"name":"b","name":"a"')),
        'the spec is not written as nodes write it',
      ],
      [
        'a batch with a resource whose text has another form than nodes write',
        Buffer.from(
          Buffer.from(batchOf([{ op: 'create', kind: 'groups', by: 'id', id: 'g', spec: { name: 'g' } }]))
            .toString()
            .replace('"name":"g"', '"name":"h","name":"g"'),
        ),
        'the spec is not written as nodes write it',
      ],
      [
        'a batch with a resource that its schema refuses',
        batchOf([
          { op: 'create', kind: 'groups', by: 'id', id: 'g', spec: { name: 'g' } },
          { op: 'upsert', kind: 'routes', by: 'id', id: 'a', spec: { name: 'a', match: { pathRegex: '(' } } },
        ]),
        'the spec at "/match/pathRegex"',
      ],
    ];
    const bodies = [
      ...envelopes,
      ...commands.map(([what, bytes, text]) => [what, wire({ command: commandOf(bytes) }), text] as const),
    ];
    for (const [what, body, text] of bodies) {
      it(what, async () => {
        const [status, message] = await refusal(() => take(body));
        expect(status).to.equal(400);
        expect(message).to.contain(text);
      });
    }
  });

  describe('without a secret between the members', () => {
    beforeEach(() => {
      server = relayServer({ target, clock, key: undefined });
    });

    it('takes writes from private addresses', async () => {
      for (const remoteAddress of [
        '127.0.0.1',
        '::1',
        '10.1.2.3',
        '172.31.0.1',
        '192.168.9.9',
        '::ffff:10.0.0.1',
        'fd00::1',
      ])
        expect((await take(wire(), head({ remoteAddress }))).status, remoteAddress).to.equal(200);
    });

    it('refuses every other address', async () => {
      for (const remoteAddress of [
        '203.0.113.9',
        '172.32.0.1',
        '169.254.1.1',
        '100.64.0.1',
        'fe80::1',
        '2001:db8::1',
        '::ffff:8.8.8.8',
        undefined,
      ])
        expect(await refusal(() => take(wire(), head({ remoteAddress }))), `${remoteAddress}`).to.deep.equal([
          403,
          'internal endpoint: access denied',
        ]);
    });

    it('takes writes from anywhere with a verified certificate', async () => {
      expect((await take(wire(), head({ isCertified: true }))).status).to.equal(200);
    });
  });
});
