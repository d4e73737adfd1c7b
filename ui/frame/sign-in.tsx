// Form for the key of the API. The key is kept in memory; in the storage of the tab by choice.
import { useState } from 'preact/hooks';
import { ApiError, apiKey, call, forgetKey, keepKey, messageOf, needsKey } from '../lib/api.ts';
import { whoami } from '../lib/store.ts';
import { Field, Problem } from '../parts/basics.tsx';

export function SignIn() {
  const [problem, setProblem] = useState<string>();
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await call('GET', '/whoami', { headers: { Authorization: `Bearer ${key}` } });
      keepKey(key, keep);
      needsKey.value = false;
      setProblem(undefined);
      await whoami.reload();
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.status === 401;
      if (isUnknown && apiKey.value !== undefined) forgetKey();
      setProblem(isUnknown ? 'This key is not known here.' : messageOf(error));
    }
  };
  return (
    <form class="card sign-in" onSubmit={(event) => void submit(event)}>
      <h2>Sign in</h2>
      <p>This node asks for a key of its API.</p>
      <Field label="API key">
        {(id) => (
          <input
            id={id}
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        )}
      </Field>
      <label class="check">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
        Keep until this tab is closed
      </label>
      <Problem text={problem} />
      <button type="submit" class="main">
        Sign in
      </button>
    </form>
  );
}
