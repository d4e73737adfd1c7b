// Outcomes of actions, announced and shown for a while.
import { signal } from '@preact/signals';

interface Message {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const messages = signal<readonly Message[]>([]);
let lastId = 0;
const shownMs = 8_000;

export function say(text: string, tone: Message['tone'] = 'good'): void {
  const id = ++lastId;
  messages.value = [...messages.value.slice(-3), { id, text, tone }];
  setTimeout(() => {
    messages.value = messages.value.filter((each) => each.id !== id);
  }, shownMs);
}

export function Messages() {
  return (
    <div class="messages" role="log" aria-label="Messages" aria-live="polite">
      {messages.value.map(({ id, text, tone }) => (
        <p key={id} class={tone}>
          {text}
        </p>
      ))}
    </div>
  );
}
