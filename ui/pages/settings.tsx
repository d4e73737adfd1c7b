// Rights of the caller, and log levels of the node.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { call, messageOf } from '../lib/api.ts';
import { live, useLive } from '../lib/live.ts';
import { refusal, whoami } from '../lib/store.ts';
import type { LogLevels } from '../lib/types.ts';
import { Field, Problem, SimpleTable } from '../parts/basics.tsx';

const roles = [
  { role: 'viewer', may: 'reads everything but values of secrets' },
  { role: 'editor', may: 'also edits, captures, activates, rolls out' },
  { role: 'admin', may: 'also sees values of secrets, changes members, backs up, sets log levels' },
  { role: 'proxy', may: 'follows activations alone' },
];

export function Keys() {
  const own = useLive(whoami);
  return (
    <>
      <Problem text={whoami.error.value} />
      <section class="card">
        <h2>This key</h2>
        <dl class="facts">
          <dt>Name</dt>
          <dd>
            {own === undefined
              ? '…'
              : own.name === ''
                ? 'none: this API has no keys, every caller is an admin'
                : own.name}
          </dd>
          <dt>Role</dt>
          <dd>{own?.role ?? '…'}</dd>
          <dt>May</dt>
          <dd>{own?.may?.join(', ') ?? ''}</dd>
        </dl>
      </section>
      <section class="card">
        <h2>Roles</h2>
        <SimpleTable
          name="Roles"
          head={['Role', 'May']}
          rows={roles.map(({ role, may }) => ({ key: role, cells: [role, may] }))}
        />
        <p class="about">
          Keys stand in the settings of each node, <code>controlPlane.auth.apiKeys</code>. To rotate one, add the new
          key beside the old on every node, restart one node after the other, move callers over, and remove the old key.
        </p>
      </section>
    </>
  );
}

const levels = live<LogLevels>('/log-level', []);
const names = ['debug', 'info', 'warn', 'error'] as const;

export function LogLevelsPage() {
  const now = useLive(levels);
  const [problem, setProblem] = useState<string>();
  const refused = refusal('admin');
  const set = async (module: string, level: string): Promise<void> => {
    try {
      await call('PUT', '/log-level', { body: { level, module } });
      say(`${module} logs ${level}.`);
      setProblem(undefined);
    } catch (error) {
      setProblem(messageOf(error));
    }
    await levels.reload();
  };
  return (
    <>
      <Problem text={problem ?? levels.error.value} />
      <p class="about">Of this node, until it ends; the settings say what it begins with.</p>
      {now !== undefined && (
        <section class="card">
          {Object.entries(now.modules).map(([module, level]) => (
            <Field key={module} label={module}>
              {(id) => (
                <select
                  id={id}
                  value={level}
                  disabled={refused !== undefined}
                  title={refused}
                  onChange={(event) => void set(module, event.currentTarget.value)}
                >
                  {names.map((name) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          ))}
          {refused !== undefined && <p class="about">{refused}</p>}
        </section>
      )}
    </>
  );
}
