// Log levels of the node.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { call, messageOf } from '../lib/api.ts';
import { live, useLive } from '../lib/live.ts';
import { refusal } from '../lib/store.ts';
import type { LogLevels } from '../lib/types.ts';
import { Field, Problem } from '../parts/basics.tsx';

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
