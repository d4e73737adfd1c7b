// Small parts that every page is made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Slug } from '../lib/pages.ts';
import { go, hrefOf } from '../lib/router.ts';

export function PageLink({
  to,
  query = {},
  children,
  ...rest
}: {
  readonly to: Slug;
  readonly query?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly 'aria-current'?: 'page' | undefined;
  readonly onClick?: () => void;
}) {
  const follow = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    rest.onClick?.();
    go(to, query);
  };
  return (
    <a {...rest} href={hrefOf(to, query)} onClick={follow}>
      {children}
    </a>
  );
}

/** Button that is shown, and says why, where the role may not press it. */
export function Act({
  children,
  onAct,
  refused,
  kind = '',
  disabled = false,
}: {
  readonly children: ComponentChildren;
  readonly onAct: () => unknown;
  readonly refused?: string | undefined;
  readonly kind?: '' | 'main' | 'danger';
  readonly disabled?: boolean;
}) {
  const why = useId();
  return (
    <span class="act">
      <button
        type="button"
        class={kind}
        disabled={disabled || refused !== undefined}
        aria-describedby={refused === undefined ? undefined : why}
        title={refused}
        onClick={() => void onAct()}
      >
        {children}
      </button>
      {refused !== undefined && (
        <span id={why} class="hidden">
          {refused}
        </span>
      )}
    </span>
  );
}

/** Text in which what stands between two backticks is code. */
export function Words({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined || text === '' ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** State in words and colour. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

export function Field({
  label,
  children,
}: {
  readonly label: string;
  readonly children: (id: string) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** Modal dialog; Escape and `onClose` end it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={heading} onCancel={onClose} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Question before something that cannot be taken back. */
export function Confirmation({
  title,
  text,
  word = 'Confirm',
  typed,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly text: string;
  readonly word?: string;
  /** Text that is to be typed before. */
  readonly typed?: string;
  readonly onConfirm: () => unknown;
  readonly onClose: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const confirm = (event: Event): void => {
    event.preventDefault();
    if (typed !== undefined && input.current?.value !== typed) {
      input.current?.setCustomValidity(`Type ${typed}`);
      input.current?.reportValidity();
      return;
    }
    onClose();
    void onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={confirm}>
        <p>{text}</p>
        {typed !== undefined && (
          <Field label={`Type ${typed} to go on`}>
            {(id) => (
              <input
                id={id}
                ref={input}
                autocomplete="off"
                onInput={(event) => event.currentTarget.setCustomValidity('')}
              />
            )}
          </Field>
        )}
        <div class="row">
          <button type="submit" class="danger">
            {word}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Heads of columns that stay in one line. */
const times: ReadonlySet<string> = new Set(['When', 'Created', 'Time', 'Last used']);

/** Table of few rows. */
export function SimpleTable({
  name,
  head,
  rows,
}: {
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[] }[];
}) {
  return (
    <section class="scroll" tabIndex={0} aria-label={`${name}, scrollable`}>
      <table aria-label={name}>
        <thead>
          <tr>
            {head.map((text) =>
              text === '' ? (
                <td key={text} />
              ) : (
                <th key={text} scope="col">
                  {text}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, at) => (
                <td key={at} class={times.has(head[at] ?? '') ? 'time' : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
