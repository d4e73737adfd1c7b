// Shortcuts of the keyboard, and the list of them.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pages } from '../lib/pages.ts';
import { go } from '../lib/router.ts';
import { Dialog } from '../parts/basics.tsx';
import { asksUndo, undoableOf } from './undo.tsx';

const showsHelp = signal(false);
/** `g` waits this long for its second letter. */
const sequenceMs = 1_500;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null);

export function Keyboard() {
  useEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && event.target instanceof HTMLInputElement && event.target.type === 'search')
        event.target.blur();
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const { key } = event;
      if (performance.now() - begunAt < sequenceMs) {
        begunAt = Number.NEGATIVE_INFINITY;
        const page = pages.find((each) => 'key' in each && each.key === key);
        if (page === undefined) return;
        event.preventDefault();
        go(page.slug);
      } else if (key === 'g') begunAt = performance.now();
      else if (key === '/') {
        const search = document.querySelector<HTMLInputElement>('input[type=search], input[data-search]');
        if (search === null) return;
        event.preventDefault();
        search.focus();
      } else if (key === 'u') asksUndo.value = undoableOf(Date.now()) !== undefined;
      else if (key === '?') showsHelp.value = true;
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!showsHelp.value) return null;
  const close = (): void => {
    showsHelp.value = false;
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="shortcuts">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search; Escape leaves it</dd>
        <dt>
          <kbd>u</kbd>
        </dt>
        <dd>Undo</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>This list</dd>
        {pages.map((page) =>
          'key' in page ? (
            <>
              <dt>
                <kbd>g</kbd> <kbd>{page.key}</kbd>
              </dt>
              <dd>{page.title}</dd>
            </>
          ) : null,
        )}
      </dl>
      <button type="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}

export function showShortcuts(): void {
  showsHelp.value = true;
}
