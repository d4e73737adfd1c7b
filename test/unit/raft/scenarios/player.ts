// Plays a scenario file: one command of the adapter a line (`op key=value …`), `#` begins a comment.
// `expect id=1 role=leader …` compares fields of a node's description, `answers key=value …` the last answer,
// `queued from=1 to=2 kind=MsgApp count=1` counts messages on the wire.
import { type Command, Operations } from '../../../../raft/testing/adapter/operations.ts';

type Value = string | number | boolean | readonly (string | number)[];
type Fields = Readonly<Record<string, Value>>;

const lists = new Set(['voters', 'learners', 'outgoing', 'changes', 'ids', 'drop', 'to']);
const options = new Set(['prevote', 'checkquorum', 'inflight', 'asyncPersist', 'stepDownOnRemoval', 'suspect']);

/** Throws at the first line that is not as expected, and says which. */
export function play(script: string): void {
  const player = new Player();
  script.split('\n').forEach((line, at) => {
    const [op, ...words] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (op === undefined || op === '') return;
    try {
      player.run(op, Object.fromEntries(words.map(fieldOf)));
    } catch (error) {
      throw new Error(`line ${at + 1} "${line.trim()}": ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  player.finish();
}

class Player {
  readonly #operations = new Operations();
  #answer: unknown;
  #checks = 0;

  run(op: string, fields: Fields): void {
    if (op === 'expect') this.#expectNode(fields);
    else if (op === 'answers') this.#compare(fields, this.#answer);
    else if (op === 'queued') this.#expectQueued(fields);
    else this.#answer = this.#operations.run(commandOf(op, fields));
  }

  #expectNode({ id, ...expected }: Fields): void {
    const { config, ...node } = this.#operations.cluster.describe(Number(id));
    this.#compare(expected, { ...node, ...config });
  }

  #expectQueued({ count, ...expected }: Fields): void {
    const matching = this.#operations.cluster
      .describeWire()
      .filter((message) => Object.entries(expected).every(([key, value]) => shown(message, key) === plain(value)));
    this.#compare({ count: count ?? 1 }, { count: matching.length });
  }

  #compare(expected: Fields, actual: unknown): void {
    this.#checks += 1;
    for (const [key, value] of Object.entries(expected)) {
      const found = shown(actual, key);
      if (found !== plain(value)) throw new Error(`${key} is ${found}, not ${plain(value)}`);
    }
  }

  finish(): void {
    if (this.#checks === 0) throw new Error('the scenario expects nothing');
  }
}

function fieldOf(word: string): [string, Value] {
  const [key = '', text = ''] = word.split('=');
  if (lists.has(key)) return [key, text === '' ? [] : text.split(',').map(scalar)];
  if (text === 'true' || text === 'false') return [key, text === 'true'];
  return [key, scalar(text)];
}

function scalar(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function commandOf(op: string, fields: Fields): Command {
  const own = Object.entries(fields).filter(([key]) => !options.has(key));
  const opts = Object.fromEntries(Object.entries(fields).filter(([key]) => options.has(key)));
  return { op, ...Object.fromEntries(own), ...(op === 'addNodes' && { opts }) };
}

function shown(actual: unknown, key: string): string {
  return plain(typeof actual === 'object' && actual !== null ? Reflect.get(actual, key) : undefined);
}

function plain(value: unknown): string {
  return Array.isArray(value) ? value.join() : String(value);
}
