// Walk through the rules of a frontend and its backends, as HAProxy does for a request: each rule that ends one is a route, those
// before it win.
import type { ImportedMiddleware, ImportedRoute, ModelFields } from '../intermediate.ts';
import { closed, lesserLimit, middleware } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import {
  type AccessLists,
  accessLists,
  type Condition,
  conditioned,
  isCondition,
  matchOf,
  negated,
} from './access-lists.ts';
import { type Backend, destinationOf } from './backends.ts';
import { type Edits, edited, forwardFields, noEdits } from './edits.ts';
import type { NoTerm, Term } from './fetches.ts';
import { compression } from './filter-compression.ts';
import { answerOf, guards } from './final-rules.ts';
import type { Section } from './proxy-section.ts';
import type { Rates } from './rates.ts';

type Draft = Omit<ImportedRoute, 'rank' | 'listeners'>;

/** Effect of the rules up to here on a request. */
interface State {
  readonly terms: readonly Term[];
  /** Terms of what no allow of these rules has let through. */
  readonly held: readonly Term[];
  readonly middlewares: readonly ImportedMiddleware[];
  readonly edits: Edits;
  readonly maxRequestBodyBytes?: number;
}

const routesMax = 10_000;

export class FrontendWalk {
  readonly routes: Draft[] = [];
  readonly #backends: ReadonlyMap<string, Backend>;
  readonly #users: ReadonlyMap<string, Statement>;
  readonly #frontend: Section;
  readonly #rates: Rates;

  constructor(
    frontend: Section,
    backends: ReadonlyMap<string, Backend>,
    users: ReadonlyMap<string, Statement>,
    rates: Rates,
  ) {
    this.#frontend = frontend;
    this.#backends = backends;
    this.#users = users;
    this.#rates = rates;
  }

  walk(): void {
    const section = this.#frontend;
    const { ledger, name } = section;
    const lists = accessLists(section);
    this.#monitor(section);
    const state = this.#rules(section, { terms: [], held: [], middlewares: [], edits: noEdits }, lists, name);
    for (const statement of section.all('use_backend')) {
      const { words, condition } = readable(conditioned(statement, lists));
      const [target = ''] = words;
      if (!isCondition(condition))
        ledger.notTaken(statement, `${condition.why}; other rules take its requests`, 'a route with match.cel');
      else
        for (const terms of condition)
          this.#backend(target, statement, { ...state, terms: [...state.terms, ...terms] });
    }
    const usual = section.one('default_backend');
    if (section.statement.key === 'listen' && section.own('server').length > 0)
      this.#forward(name, section, section.statement, state);
    else if (usual !== undefined) this.#backend(usual.words[0] ?? '', usual, state);
    else this.#push(`${name}-otherwise`, section.statement, state, { directResponse: { status: 503 } });
  }

  /** A page for probes, which no rule keeps back. */
  #monitor(section: Section): void {
    const statement = section.one('monitor-uri');
    if (statement === undefined) return;
    section.ledger.taken(statement);
    this.routes.push({
      name: `${section.name}-monitor`,
      from: statement,
      hosts: [],
      path: { is: 'exact', text: statement.words[0] ?? '/' },
      match: { cel: 'size(request.queryParams) == 0' },
      middlewares: [],
      directResponse: {
        status: 200,
        body: '<html><body><h1>200 OK</h1>\nService ready.\n</body></html>\n',
        contentType: 'text/html',
        headers: [{ key: 'Cache-Control', value: 'no-cache' }],
      },
    });
  }

  #backend(name: string, from: Statement, state: State): void {
    const backend = this.#backends.get(name);
    const { ledger } = this.#frontend;
    if (backend === undefined || backend.isTcp) {
      const why = name.includes('%') ? 'the name of the backend has samples' : 'there is no such backend of HTTP';
      ledger.notTaken(from, `${why}; the route answers 503`, 'a route for each');
      this.#push(name, from, state, { directResponse: { status: 503 } });
      return;
    }
    ledger.taken(from);
    this.#forward(name, backend, from, this.#rules(backend, state, accessLists(backend), name));
  }

  #forward(name: string, backend: Section, from: Statement, state: State): void {
    const destination = destinationOf(backend);
    if (destination === undefined) {
      this.#push(name, from, state, { directResponse: { status: 503 } });
      return;
    }
    const fields: ModelFields = { ...forwardFields(state.edits), ...retryOf(backend) };
    const forward = { shares: [{ destination }], ...(Object.keys(fields).length > 0 && { fields }) };
    this.#push(name, from, state, { forward });
  }

  #rules(section: Section, before: State, lists: AccessLists, name: string): State {
    let state: State = { ...before, middlewares: [...before.middlewares, ...compression(section, name)] };
    for (const statement of section.all('http-response')) state = this.#responseRule(statement, state, lists, section);
    for (const key of ['tcp-request', 'http-request', 'redirect']) {
      for (const statement of section.all(key)) state = this.#rule(statement, state, lists, section, name);
      // Requests that an allow lets through pass the rules of its own kind alone.
      state = { ...state, held: [] };
    }
    return state;
  }

  #rule(statement: Statement, state: State, lists: AccessLists, section: Section, name: string): State {
    const { ledger } = section;
    const { words: all, condition } = conditioned(statement, lists);
    const [action = '', words] = actionOf(statement.key, all);
    if (action === 'inspect-delay' || action === 'wait-for-handshake' || action === 'capture') {
      ledger.approximated(statement, 'nothing has to be waited for or kept');
      return state;
    }
    if (action === 'auth') return this.#auth(statement, condition, state, words, section, name);
    if (action.startsWith('lua.')) {
      ledger.notTaken(statement, 'Sluice runs no code of HAProxy; its routes are closed (403)', 'extAuthz, extProc');
      return withMiddleware(state, closed(statement, `${name}-closed`));
    }
    const limit = guards.has(action) ? limitOf(condition, state) : undefined;
    if (limit?.of === 'body') {
      if (!words.includes('413')) ledger.approximated(statement, 'bodies above the limit are answered 413');
      ledger.taken(statement);
      return { ...state, maxRequestBodyBytes: lesserLimit(state.maxRequestBodyBytes, limit.bytesMax) as number };
    }
    const limiter = limit && this.#rates.limiterOf(limit, statement, section, name);
    if (limiter !== undefined) return withMiddleware(state, limiter);
    const read = readable({ words, condition }).condition;
    if (!isCondition(read)) {
      const closes = guards.has(action) && !read.isLimit;
      const instead = read.isLimit ? 'a middleware of type rateLimit' : 'a route with match.cel, extAuthz';
      ledger.notTaken(statement, closes ? `${read.why}; its routes are closed (403)` : read.why, instead);
      return closes ? withMiddleware(state, closed(statement, `${name}-closed`)) : state;
    }
    if (action === 'allow' || action === 'accept') {
      ledger.taken(statement);
      return { ...state, held: [...state.held, ...negatedTerms(read)] };
    }
    const answer = answerOf(statement, action, words, ledger);
    if (answer !== undefined) {
      ledger.taken(statement);
      for (const terms of read)
        this.#push(
          `${name}-${action}`,
          statement,
          { ...state, terms: [...state.terms, ...state.held, ...terms] },
          answer,
        );
      return state;
    }
    if (statement.key !== 'http-request' && !action.startsWith('track-sc'))
      return refused(statement, section, `${action} has no counterpart`, 'rateLimit', state);
    // Those that limiters are made of are told at the end.
    if (action.startsWith('track-sc')) return state;
    if (action.startsWith('sc-'))
      return refused(statement, section, 'counters are not kept', 'a middleware of type rateLimit', state);
    return this.#edit(
      statement,
      'request',
      action,
      words,
      read.map((each) => [...state.held, ...each]),
      state,
      section,
    );
  }

  #edit(
    statement: Statement,
    side: 'request' | 'response',
    action: string,
    words: readonly string[],
    condition: Condition,
    state: State,
    { ledger }: Section,
  ): State {
    const edits = edited(state.edits, side, action, words, condition, statement, ledger);
    if ('why' in edits) {
      ledger.notTaken(statement, edits.why, edits.instead);
      return state;
    }
    ledger.taken(statement);
    return { ...state, edits };
  }

  #responseRule(statement: Statement, state: State, lists: AccessLists, section: Section): State {
    const { words, condition } = readable(conditioned(statement, lists));
    const [action = '', ...rest] = words;
    if (guards.has(action)) {
      section.ledger.notTaken(statement, 'responses are not held back; its routes are closed (403)', 'extProc');
      return withMiddleware(state, closed(statement, `${section.name}-closed`));
    }
    if (!isCondition(condition))
      return refused(statement, section, condition.why, 'responseHeadersToAdd with when', state);
    return this.#edit(statement, 'response', action, rest, condition, state, section);
  }

  /** Users are asked for where the one condition is that a list of users does not let in. */
  #auth(
    statement: Statement,
    condition: Condition | NoTerm,
    state: State,
    words: readonly string[],
    { ledger }: Section,
    name: string,
  ): State {
    const [[term, ...more] = [], ...others] = isCondition(condition) ? condition : [];
    const list = this.#users.get(term?.users ?? '');
    const isPlain = more.length === 0 && others.length === 0 && state.held.length === 0;
    if (list === undefined || term?.isNegated !== true || !isPlain) {
      ledger.notTaken(
        statement,
        'its condition has no counterpart; its routes are closed (403)',
        'basicAuth with onlyWhen',
      );
      return withMiddleware(state, closed(statement, `${name}-closed`));
    }
    ledger.approximated(
      list,
      'write its users as lines of htpasswd into the file that the middleware names, on each node',
    );
    ledger.taken(statement);
    const realm = words[words.indexOf('realm') + 1];
    const block = {
      users: `{{secret:file:/etc/sluice/users/${list.words[0]}.htpasswd}}`,
      ...(words.includes('realm') && realm !== undefined && { realm }),
      forwardAuthorization: true,
    };
    return withMiddleware(state, middleware(statement, `${name}-users`, 'basicAuth', block));
  }

  #push(name: string, from: Statement, state: State, action: Partial<Draft>): void {
    const { terms, middlewares, maxRequestBodyBytes } = state;
    if (this.routes.length >= routesMax) {
      this.#frontend.ledger.notTaken(from, `a frontend has at most ${routesMax} routes`, 'fewer conditions');
      return;
    }
    const own = this.#frontend.name;
    const label = name === own || name.startsWith(`${own}-`) ? name : `${own}-${name}`;
    this.routes.push({
      name: label,
      from,
      ...matchOf(terms),
      middlewares,
      ...(maxRequestBodyBytes !== undefined && { maxRequestBodyBytes }),
      ...action,
    });
  }
}

/** Tries after a failed connection; HAProxy makes three where the file names none, and Sluice none. */
function retryOf(backend: Section): ModelFields {
  const statement = backend.one('retries');
  const attempts = Number(statement?.words[0] ?? 0);
  if (statement === undefined) return {};
  backend.ledger.approximated(statement, 'a failed connection is tried again at another server, at most 10 times');
  return attempts > 0 ? { retry: { attempts: Math.min(attempts, 10), on: ['connection-failure'] } } : {};
}

const withMiddleware = (state: State, added: ImportedMiddleware): State => ({
  ...state,
  middlewares: [...state.middlewares, added],
});

function refused(statement: Statement, { ledger }: Section, why: string, instead: string, state: State): State {
  ledger.notTaken(statement, why, instead);
  return state;
}

const negatedTerms = (condition: Condition): readonly Term[] => {
  const [terms = [], ...others] = negated(condition);
  return others.length === 0
    ? terms
    : [
        {
          cel: negated(condition)
            .map((each) => `(${each[0]?.cel})`)
            .join(' || '),
        },
      ];
};

/** Limit of a rule that has no other condition. */
function limitOf(condition: Condition | NoTerm, { held }: State): Term['limit'] {
  const [[term, ...more] = [], ...others] = isCondition(condition) ? condition : [];
  const isPlain = more.length === 0 && others.length === 0 && held.length === 0 && term?.isNegated !== true;
  return isPlain ? term?.limit : undefined;
}

/** A condition on users, server names, lengths of bodies or rates is none that requests of HTTP are told apart by. */
function readable({ words, condition }: ReturnType<typeof conditioned>): ReturnType<typeof conditioned> {
  if (!isCondition(condition)) return { words, condition };
  const terms = condition.flat();
  if (terms.some(({ users, sni }) => users !== undefined || sni !== undefined))
    return { words, condition: { why: 'users and server names are no condition of a route', isLimit: false } };
  if (terms.some(({ limit }) => limit !== undefined))
    return { words, condition: { why: 'lengths of bodies and rates are no condition of a route', isLimit: true } };
  return { words, condition };
}

/** Action with its words: the second word of `tcp-request content accept`. */
function actionOf(key: string, words: readonly string[]): readonly [string | undefined, readonly string[]] {
  if (key === 'redirect') return ['redirect', words];
  const at = key === 'tcp-request' && /^(connection|content|session)$/.test(words[0] ?? '') ? 1 : 0;
  return [words[at], words.slice(at + 1)];
}
