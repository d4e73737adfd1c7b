// Explains requests against any configuration, whether it runs or not. Keeps the tables of the configurations that were
// asked about last, so that a person who tries several requests waits once.

import { SluiceError } from '../../errors.ts';
import type { RequestExplanation } from '../../model/answers/explanation.ts';
import type { ConnectionExplanation } from '../../model/answers/stream-explanation.ts';
import { describe } from '../../model/problem.ts';
import { type Configuration, listOf } from '../../model/proxy-config.ts';
import { compileForQuestion, questionsWaitingMax } from '../compile/compile-in-slices.ts';
import { inSlices } from '../compile-slices.ts';
import { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { RoutingTable } from '../match/routing-table.ts';
import { explain } from './explain.ts';
import { explainStream } from './explain-stream.ts';
import { type KnownStates, nothingKnown } from './explained-destination.ts';
import { type ListenerQuestion, listenerFor, tcpListenerFor } from './explained-listener.ts';
import type { RequestQuestion } from './explained-request.ts';

const keptMax = 2;

interface Compiled {
  readonly table: RoutingTable;
  readonly configuration: Configuration;
  readonly consumers: ConsumerDirectory;
}

export class Explainer {
  readonly #kept = new Map<string, Compiled>();
  readonly #underWay = new Map<string, Promise<Compiled>>();
  readonly #known: () => KnownStates;

  /** `known` returns the current state of upstreams in the running proxy. */
  constructor(known: () => KnownStates = () => nothingKnown) {
    this.#known = known;
  }

  /**
   * Explains a request. `key` identifies the configuration for good; undefined when nothing does, then nothing is
   * kept. Rejects with INVALID when the configuration cannot be compiled, for its behaviour is undefined then, and for a
   * listener that it does not have, and with UNAVAILABLE where too many configurations wait to be compiled.
   */
  async explain(
    key: string | undefined,
    configurationOf: () => Configuration,
    question: Omit<RequestQuestion, 'on'> & ListenerQuestion,
  ): Promise<RequestExplanation> {
    const { table, configuration, consumers } = await this.#compiled(key, configurationOf);
    const on = listenerFor(configuration.listeners, question);
    return inSlices(
      explain(table, configuration.destinations, { ...question, consumers, ...(on && { on }) }, this.#known()),
    );
  }

  /** The same for a connection, where the listener that is named is one of protocol tcp; its URL does not count then. */
  async explainAny(
    key: string | undefined,
    configurationOf: () => Configuration,
    question: Omit<RequestQuestion, 'on'> & ListenerQuestion,
  ): Promise<RequestExplanation | ConnectionExplanation> {
    if (question.listener === undefined) return this.explain(key, configurationOf, question);
    const { configuration } = await this.#compiled(key, configurationOf);
    const listener = tcpListenerFor(configuration.listeners, question.listener);
    if (listener === undefined) return this.explain(key, () => configuration, question);
    const { sni = '', clientIp } = question;
    return inSlices(explainStream(configuration, { listener, sni, clientIp }, this.#known()));
  }

  /** A configuration that is compiled already is waited for. */
  async #compiled(key: string | undefined, configurationOf: () => Configuration): Promise<Compiled> {
    if (key === undefined) return await compile(configurationOf);
    const known = this.#kept.get(key) ?? this.#underWay.get(key);
    if (known !== undefined) return await known;
    const compiling = compile(configurationOf);
    this.#underWay.set(key, compiling);
    try {
      this.#keep(key, await compiling);
      return await compiling;
    } finally {
      this.#underWay.delete(key);
    }
  }

  #keep(key: string, compiled: Compiled): void {
    this.#kept.set(key, compiled);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function compile(configurationOf: () => Configuration): Promise<Compiled> {
  const { table, problems, configuration } = await compileForQuestion(configurationOf, questionsWaitingMax);
  if (table === undefined) throw new SluiceError('INVALID', describe(problems));
  const { directory } = await inSlices(ConsumerDirectory.of(listOf(configuration, 'consumers')));
  return { table, configuration, consumers: directory };
}
