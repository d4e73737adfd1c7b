// API keys: the own one, all of them, another one, its successor, and revocation; keys of signed cookies.
import { useRef, useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { call, messageOf, post } from '../lib/api.ts';
import { ago, moment } from '../lib/format.ts';
import { live, useLive } from '../lib/live.ts';
import { refusal, whoami } from '../lib/store.ts';
import type { ApiKey, CookieKey, MadeApiKey } from '../lib/types.ts';
import { Act, Badge, Confirmation, Dialog, Empty, Field, Problem, SimpleTable } from '../parts/basics.tsx';

const roles = [
  { role: 'viewer', may: 'reads everything but values of secrets' },
  { role: 'editor', may: 'also edits, captures, activates, rolls out' },
  { role: 'admin', may: 'also sees values of secrets, makes keys, changes members, backs up, sets log levels' },
  { role: 'proxy', may: 'follows activations alone' },
] as const;

const lookMs = 10_000;
const keys = live<readonly ApiKey[]>('/keys', [], lookMs);
const cookieKeys = live<readonly CookieKey[]>('/cookie-keys', [], lookMs);

interface Asked {
  readonly title: string;
  readonly text: string;
  readonly word: string;
  readonly run: () => Promise<unknown>;
}

export function Keys() {
  const own = useLive(whoami);
  const list = useLive(keys);
  const [problem, setProblem] = useState<string>();
  const [made, setMade] = useState<MadeApiKey>();
  const [asked, setAsked] = useState<Asked>();
  const refused = refusal('admin');
  const isOpen = own?.name === '';
  /** Resolves with whether it succeeded. */
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    let isDone = false;
    try {
      await work();
      setProblem(undefined);
      isDone = true;
    } catch (error) {
      setProblem(messageOf(error));
    }
    await keys.reload();
    return isDone;
  };
  const create = (name: string, role: string): Promise<boolean> =>
    act(async () => setMade(await post<MadeApiKey>('/keys', { name, role })));
  const revoke = ({ id, name }: ApiKey): Promise<boolean> =>
    act(async () => {
      await call('DELETE', `/keys/${encodeURIComponent(id ?? '')}`);
      say(`The key of ${name} counts no more.`);
    });
  const askToRotate = ({ name, role }: ApiKey): Asked => ({
    title: `Rotate the key of ${name}`,
    text: 'A second key is made, and both count. Move callers over, then revoke the old one.',
    word: 'Make the new key',
    run: () => create(name, role),
  });
  const askToRevoke = (key: ApiKey): Asked => ({
    title: `Revoke the key of ${key.name}`,
    text: 'Its callers are refused at once, and their streams end. It cannot be taken back.',
    word: 'Revoke',
    run: () => revoke(key),
  });
  return (
    <>
      <Problem text={problem ?? keys.error.value ?? whoami.error.value} />
      <section class="card">
        <h2>This key</h2>
        <dl class="facts">
          <dt>Name</dt>
          <dd>
            {own === undefined ? '…' : isOpen ? 'none: this API has no keys, every caller is an admin' : own.name}
          </dd>
          <dt>Role</dt>
          <dd>{own?.role ?? '…'}</dd>
          <dt>May</dt>
          <dd>{own?.may?.join(', ') ?? ''}</dd>
        </dl>
      </section>
      <section class="card">
        <h2>API keys</h2>
        {list?.length === 0 ? (
          <Empty>
            None. The first one stands in the settings of each node, <code>controlPlane.auth.apiKeys</code>; further
            ones are made here.
          </Empty>
        ) : (
          <SimpleTable
            name="API keys"
            head={['Name', 'Role', 'From', 'Created', 'By', 'Last used', '']}
            rows={(list ?? []).map((key) => ({
              key: key.id ?? `settings/${key.name}`,
              cells: [
                key.name,
                <Badge key="role" tone="plain">
                  {key.role}
                </Badge>,
                key.source,
                key.createdAt === null ? '' : <span title={moment(key.createdAt)}>{ago(key.createdAt)}</span>,
                key.createdBy ?? '',
                <span
                  key="used"
                  title={key.lastUsedAt === null ? 'not since this node started' : moment(key.lastUsedAt)}
                >
                  {key.lastUsedAt === null ? '–' : ago(key.lastUsedAt)}
                </span>,
                <span key="acts" class="row">
                  <Act refused={refused} onAct={() => setAsked(askToRotate(key))}>
                    Rotate <span class="hidden">the key of {key.name}</span>
                  </Act>
                  {key.id !== null && (
                    <Act kind="danger" refused={refused} onAct={() => setAsked(askToRevoke(key))}>
                      Revoke <span class="hidden">the key of {key.name}</span>
                    </Act>
                  )}
                </span>,
              ],
            }))}
          />
        )}
        {!isOpen && <NewKey refused={refused} onCreate={create} />}
        <p class="about">
          Keys from the settings change there: add one, restart one node after the other, remove the old one. Last uses
          are those that this node has seen.
        </p>
      </section>
      <section class="card">
        <h2>Roles</h2>
        <SimpleTable
          name="Roles"
          head={['Role', 'May']}
          rows={roles.map(({ role, may }) => ({ key: role, cells: [role, may] }))}
        />
      </section>
      <CookieKeys onAsk={setAsked} />
      {asked !== undefined && <Confirmation {...asked} onConfirm={asked.run} onClose={() => setAsked(undefined)} />}
      {made !== undefined && <Shown made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

function NewKey({
  refused,
  onCreate,
}: {
  readonly refused: string | undefined;
  /** Resolves with whether the key was made. */
  readonly onCreate: (name: string, role: string) => Promise<boolean>;
}) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('viewer');
  const isBusy = useRef(false);
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    // A second press would make a second key, and only one is shown.
    if (isBusy.current) return;
    isBusy.current = true;
    const isMade = await onCreate(name.trim(), role);
    isBusy.current = false;
    if (isMade) setName('');
  };
  return (
    <form class="row" onSubmit={create}>
      <Field label="Name of the holder">
        {(id) => (
          <input
            id={id}
            required
            autocomplete="off"
            placeholder="deploy"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Role">
        {(id) => (
          <select id={id} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
            {roles.map((each) => (
              <option key={each.role} value={each.role}>
                {each.role}
              </option>
            ))}
          </select>
        )}
      </Field>
      <button type="submit" class="main" disabled={refused !== undefined} title={refused}>
        Make key
      </button>
    </form>
  );
}

/** Key as it is made: shown once. */
function Shown({ made, onClose }: { readonly made: MadeApiKey; readonly onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(made.key);
      say('Copied.');
    } catch {
      // Without a secure origin there is no clipboard: it is selected, to be copied by hand.
      say('Selected: copy it by hand.');
    }
  };
  return (
    <Dialog title={`Key of ${made.name}`} onClose={onClose}>
      <p>It is shown now and never again. With it a caller may do what the role {made.role} may.</p>
      <Field label="Key">
        {(id) => (
          <input id={id} ref={field} class="key" readOnly autocomplete="off" spellcheck={false} value={made.key} />
        )}
      </Field>
      <div class="row">
        <button type="button" class="main" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

const uses = {
  next: 'seals after the next rotation',
  seals: 'seals new cookies',
  opens: 'opens older cookies',
} as const;

function CookieKeys({ onAsk }: { readonly onAsk: (asked: Asked) => void }) {
  const list = useLive(cookieKeys);
  const rotate = async (): Promise<void> => {
    try {
      await post('/cookie-keys/rotate');
      say('Another key of signed cookies is made.');
    } catch (error) {
      say(messageOf(error), 'bad');
    }
    await cookieKeys.reload();
  };
  return (
    <section class="card">
      <h2>Keys of signed cookies</h2>
      <Problem text={cookieKeys.error.value} />
      {list?.length === 0 ? (
        <Empty>None: no snapshot asks for signed cookies.</Empty>
      ) : (
        <SimpleTable
          name="Keys of signed cookies"
          head={['Key', 'Created', 'Use']}
          rows={(list ?? []).map(({ id, madeAt, use }) => ({
            key: id,
            cells: [
              <code key="id">{id}</code>,
              <span key="at" title={moment(madeAt)}>
                {ago(madeAt)}
              </span>,
              uses[use],
            ],
          }))}
        />
      )}
      <Act
        refused={refusal('admin')}
        onAct={() =>
          onAsk({
            title: 'Rotate the keys of signed cookies',
            text: 'The leader does so each day. A key that has become known is out of use after eight rotations.',
            word: 'Rotate',
            run: rotate,
          })
        }
      >
        Rotate keys of signed cookies
      </Act>
    </section>
  );
}
