// Plans and commits of the command line against the API: what files mean is what the cluster has, for any sequence of
// applies by two owners.
import { expect } from 'chai';
import fc from 'fast-check';
import { exportedOf } from '../../src/command-line/commands/export-command.ts';
import { Api } from '../../src/command-line/connection/api-client.ts';
import { closeConnections } from '../../src/command-line/connection/http-call.ts';
import type { Entity } from '../../src/command-line/entities.ts';
import { CommandFailure } from '../../src/command-line/exit.ts';
import { readEntities } from '../../src/command-line/input/input-entities.ts';
import { escapeVariables, noVariables } from '../../src/command-line/input/variables.ts';
import { stateNamed } from '../../src/command-line/plan/cluster-state.ts';
import { planInput } from '../../src/command-line/plan/input-plan.ts';
import { planOf } from '../../src/command-line/plan/plan.ts';
import { commit } from '../../src/command-line/plan/plan-commit.ts';
import { ApiServer } from '../support/api-server.ts';

const silent = () => undefined;

interface Meant {
  readonly destinations: readonly object[];
  readonly middlewares: readonly object[];
  readonly routes: readonly object[];
  readonly groups: readonly object[];
}

/** Configurations of an owner, whose names begin with that of the owner. */
function configurations(owner: string): fc.Arbitrary<Meant> {
  const names = (letter: string) =>
    fc
      .subarray([1, 2, 3].map((n) => `${owner} ${letter}${n}`))
      .map((all) => all.map((each) => each.replace(' ', n(each))));
  // One name in three cannot be an id.
  const n = (each: string) => (each.endsWith('3') ? ' / ' : '-');
  const text = fc.constantFrom('', 'a', '$(A)', '$$(', '{{x}}', 'é', '#', ': ', 'null', '1', "'", '"');
  return fc.record({ destinations: names('d'), middlewares: names('m'), routes: names('r') }).chain((chosen) => {
    const { destinations, middlewares, routes } = chosen;
    const forward = fc.record({
      destinations: fc.array(
        fc.record({
          destinationId: fc.constantFrom(...destinations, ...(destinations.length > 0 ? [] : ['none'])),
          weight: fc.integer({ min: 1, max: 9 }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    });
    const answer = fc.record({ status: fc.constantFrom(200, 404), body: text });
    const action =
      destinations.length > 0
        ? fc.oneof(
            forward.map((each) => ({ forward: each })),
            answer.map((each) => ({ directResponse: each })),
          )
        : answer.map((each) => ({ directResponse: each }));
    const ids = fc.subarray([...middlewares]);
    return fc.record({
      destinations: fc.tuple(
        ...destinations.map((name) =>
          fc.record({
            name: fc.constant(name),
            host: fc.constantFrom('a.internal', 'b.internal'),
            port: fc.integer({ min: 1, max: 9 }),
          }),
        ),
      ),
      middlewares: fc.tuple(
        ...middlewares.map((name) =>
          fc.record({
            name: fc.constant(name),
            type: fc.constant('cors'),
            cors: fc.record({
              allowOrigins: fc.constantFrom([{ value: 'https://a.example' }], [{ value: 'https://b.example' }]),
            }),
          }),
        ),
      ),
      routes: fc.tuple(
        ...routes.map((name) =>
          fc
            .tuple(
              fc.record({
                name: fc.constant(name),
                middlewareIds: ids,
                match: fc.record({ path: fc.constantFrom('/a', '/b') }),
              }),
              action,
            )
            .map(([fields, chosenAction]) => ({ ...fields, ...chosenAction })),
        ),
      ),
      groups: fc.constantFrom([], [{ name: `${owner}-g`, routeIds: routes }]),
    });
  });
}

describe('plans of the command line', () => {
  let server: ApiServer;
  let api: Api;

  before(async () => {
    server = await ApiServer.start();
    api = new Api({
      servers: [{ url: new URL(server.base) }],
      timeoutMs: 60_000,
      warn: silent,
      trace: silent,
      command: 'test',
    });
  });

  after(async () => {
    closeConnections();
    await server.stop();
  });

  const inputOf = (owner: string, text: string) => {
    const input = readEntities([{ name: 'files.json', text }], noVariables, owner);
    expect(input.faults).to.deep.equal([]);
    return input;
  };

  /** Applies with prune; resolves with the number of changes. */
  async function apply(owner: string, text: string): Promise<number> {
    const input = inputOf(owner, text);
    const { plan, state } = await planInput(api, input, { adopt: false }).catch((error: unknown) => {
      // The faults, not only their number.
      if (error instanceof CommandFailure) throw new Error([error.message, ...error.lines].join('\n'));
      throw error;
    });
    if (plan.changes.length > 0) await commit(api, plan.changes, { owner, ifMatch: state.etag });
    return plan.changes.length;
  }

  /** Resources of the owner by kind and name, references as names, without ids. */
  async function has(owner: string): Promise<unknown> {
    return JSON.parse(
      JSON.stringify(Object.fromEntries(exportedOf(await stateNamed(api, 'staged'), owner))),
      withoutIds,
    );
  }

  const withoutIds = (key: string, value: unknown) => (key === 'id' ? undefined : value);

  /** The same of files, in a cluster that has nothing else. */
  function means(owner: string, text: string): unknown {
    const { entities } = planOf(inputOf(owner, text), { entities: {} }, { adopt: false });
    const lists = Map.groupBy(entities, ({ kind }) => kind);
    const byId = (all: readonly Entity[]) => [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
    const state = {
      entities: Object.fromEntries([...lists].map(([kind, all]) => [kind, byId(all.map(({ entity }) => entity))])),
    };
    return JSON.parse(JSON.stringify(Object.fromEntries(exportedOf(state, owner))), withoutIds);
  }

  const sorted = (value: unknown): unknown =>
    Object.fromEntries(
      Object.entries(value as Readonly<Record<string, readonly { readonly name: string }[]>>).map(([kind, list]) => [
        kind,
        [...list].sort((a, b) => (a.name < b.name ? -1 : 1)),
      ]),
    );

  /** Texts such as `$(A)` are meant as they stand. */
  const escaped = (value: object): string => escapeVariables(JSON.stringify(value));

  it('leave what files mean, say no change the second time, and never touch what another owner has', async () => {
    const steps = fc.array(
      fc.oneof(
        configurations('shop').map((value) => ['shop', value] as const),
        configurations('pay').map((value) => ['pay', value] as const),
      ),
      { minLength: 1, maxLength: 5 },
    );
    const last = new Map<string, unknown>([
      ['shop', {}],
      ['pay', {}],
    ]);
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        for (const [owner, value] of all) {
          const text = escaped(value);
          await apply(owner, text);
          last.set(owner, sorted(means(owner, text)));
          for (const [each, wanted] of last) expect(sorted(await has(each)), each).to.deep.equal(wanted);
          expect(await apply(owner, text)).to.equal(0);
          const exported = JSON.stringify(Object.fromEntries(exportedOf(await stateNamed(api, 'staged'), owner)));
          expect(
            await apply(
              owner,
              `{"owner":"${owner}",${[...['destinations', 'middlewares', 'routes', 'groups']].map((kind) => `"${kind}":${JSON.stringify((JSON.parse(exported) as Record<string, unknown>)[kind] ?? [])}`).join(',')}}`,
            ),
          ).to.equal(0);
        }
      }),
      { numRuns: 25, seed: 3, endOnFailure: true },
    );
  });

  it('compare keys of consumers by their hashes, and send no key', async () => {
    const file = (...keys: readonly string[]) =>
      JSON.stringify({ consumers: [{ name: 'app', credentials: keys.map((key) => ({ type: 'apiKey', key })) }] });
    const first = await planInput(api, inputOf('keys', file('CANARY-1')), { adopt: false });
    expect(JSON.stringify(first.plan.changes)).to.include('sha256:').and.not.include('CANARY');
    expect(await apply('keys', file('CANARY-1'))).to.equal(1);
    expect(await apply('keys', file('CANARY-1'))).to.equal(0);
    const second = await planInput(api, inputOf('keys', file('CANARY-2')), { adopt: false });
    expect(second.plan.changes).to.have.length(1);
    expect(JSON.stringify(second.plan.changes)).to.not.include('CANARY');
  });

  it('of two clients that write at once one is told that the other was before it', async () => {
    const input = (host: string) =>
      inputOf('race', JSON.stringify({ destinations: [{ name: 'raced', host, port: 1 }] }));
    const [first, second] = [
      await planInput(api, input('a.internal'), { adopt: false }),
      await planInput(api, input('b.internal'), { adopt: false }),
    ];
    await commit(api, first.plan.changes, { owner: 'race', ifMatch: first.state.etag });
    const refusal = await commit(api, second.plan.changes, { owner: 'race', ifMatch: second.state.etag }).catch(
      (error: unknown) => error,
    );
    expect(refusal).to.include({ status: 412 });
  });
});
