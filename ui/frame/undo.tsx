// Undo of a rollout or an activation: a button that is held for a second, or a key and a confirmation.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf, post } from '../lib/api.ts';
import { useLive } from '../lib/live.ts';
import { activations, activeSnapshot, openRollout, refusal, rollouts, snapshots } from '../lib/store.ts';
import { Confirmation } from '../parts/basics.tsx';
import { say } from './messages.tsx';

const holdMs = 1_000;
/** Age of an activation up to which the button is there. */
const undoMs = 15 * 60_000;

export const asksUndo = signal(false);

interface Undoable {
  readonly path: string;
  readonly text: string;
  readonly done: string;
}

/** Returns what Undo would do; undefined where there is nothing to go back to. */
export function undoableOf(nowMs: number): Undoable | undefined {
  const rollout = openRollout.value;
  if (rollout !== undefined) {
    const path = `/rollouts/${encodeURIComponent(rollout.id)}/abort`;
    return {
      path,
      text: 'The rollout is aborted: all traffic goes back to what is active.',
      done: 'The rollout is aborted.',
    };
  }
  const [latest, before] = activations.value.value ?? [];
  if (latest === undefined || before === undefined) return undefined;
  const isPending = activeSnapshot.value?.confirmBy !== undefined && activeSnapshot.value.confirmBy !== null;
  if (!isPending && nowMs - Date.parse(latest.at) > undoMs) return undefined;
  const text = `${before.name ?? 'What was active before'} becomes active again in place of ${latest.name ?? 'the present one'}.`;
  return { path: '/rollback', text, done: 'What was active before is active again.' };
}

async function undo({ path, done }: Undoable): Promise<void> {
  try {
    await post(path);
    say(done);
  } catch (error) {
    say(`Undo failed: ${messageOf(error)}`, 'bad');
  }
  await Promise.all([activations.reload(), rollouts.reload(), snapshots.reload()]);
}

export function Undo() {
  useLive(activations);
  useLive(rollouts);
  useLive(snapshots);
  const [nowMs, setNowMs] = useState(Date.now());
  const [isHeld, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const every = setInterval(() => setNowMs(Date.now()), 10_000);
    return () => clearInterval(every);
  }, []);
  const undoable = undoableOf(Math.max(nowMs, Date.now()));
  useEffect(() => () => clearTimeout(timer.current), []);
  if (undoable === undefined) return null;
  const refused = refusal('editor');
  const begin = (): void => {
    if (refused !== undefined || timer.current !== undefined) return;
    setHeld(true);
    timer.current = setTimeout(() => {
      end();
      void undo(undoable);
    }, holdMs);
  };
  const end = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  const isKey = ({ key }: KeyboardEvent): boolean => key === 'Enter' || key === ' ';
  return (
    <>
      <button
        type="button"
        class={`undo ${isHeld ? 'held' : ''}`}
        disabled={refused !== undefined}
        title={refused ?? `Hold for a second. ${undoable.text}`}
        onPointerDown={begin}
        onPointerUp={end}
        onPointerLeave={end}
        onPointerCancel={end}
        onKeyDown={(event) => {
          if (!isKey(event)) return;
          event.preventDefault();
          if (!event.repeat) begin();
        }}
        onKeyUp={(event) => isKey(event) && end()}
        onBlur={end}
      >
        Undo
      </button>
      {asksUndo.value && refused === undefined && (
        <Confirmation
          title="Undo"
          text={undoable.text}
          onConfirm={() => undo(undoable)}
          onClose={() => {
            asksUndo.value = false;
          }}
        />
      )}
    </>
  );
}
