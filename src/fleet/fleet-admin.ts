// The fleet of the whole cluster, from any node (fleet.md §4–§6): each node knows the proxies whose streams it holds, so the
// others are asked, and messages are passed on to the node that they are for.

import { SluiceError } from '../errors.ts';
import type { Convergence, FleetView, MemberDisks, NodeView, ProxyView } from '../model/answers/fleet-answers.ts';
import type { LeaseMessage, LeaseReply } from '../model/answers/lease-answers.ts';
import type { ShadowReport } from '../model/fleet-messages.ts';
import { type MismatchSource, mismatchesAnswer, mismatchesOf, type NodeMismatches } from '../model/mirror-mismatch.ts';
import { type PageAnswer, type PageQuestion, pageAnswerOf } from '../model/recorded-page.ts';
import { isShadowCounts, joinedExamples, sumOfShadows } from '../model/shadow.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { NodeTraffic } from '../traffic/node-traffic.ts';
import type { Clock } from '../util/clock.ts';
import { Convergences, type Want } from './convergence.ts';
import type { Fleet, NodeProgress } from './fleet.ts';
import { fleetOf } from './fleet-view.ts';
import type { LeaseDesk } from './leases/lease-desk.ts';
import { type NodeDisks, nodeDisksOf } from './node-disks.ts';
import type { AcknowledgementMessage, AnswerMessage, ReportMessage } from './peer-messages.ts';
import type { FleetPeer, FleetRequest } from './peer-requests.ts';
import type { Roster } from './roster.ts';
import { nodeOfToken } from './stream-token.ts';

export interface FleetAdminOptions {
  readonly nodeId: string;
  readonly fleet: Fleet;
  /** Proxies of the whole cluster as they were known last. */
  readonly roster: Pick<Roster, 'unheard' | 'forget'>;
  /** The other members of the cluster. */
  readonly peers: () => Promise<readonly FleetPeer[]>;
  /** Traffic that this node knows of. Default: none. */
  readonly traffic?: () => Pick<NodeTraffic, 'answer'> | undefined;
  /** Answers for the proxy of this node. Default: it records nothing. */
  readonly recorded?: (page: PageQuestion) => Promise<PageAnswer> | undefined;
  /** Mismatches of mirrors that the proxy of this node remembers. Default: none. */
  readonly mismatches?: () => MismatchSource | undefined;
  /** Measures the disks of this node. Default: it has none. */
  readonly disks?: () => Promise<NodeDisks>;
  readonly leases: LeaseDesk;
  readonly clock: Clock;
  readonly logger: Logger;
}

const askMs = 1_000;
/** A filter may take a second. */
const recordedMs = 3_000;

type RecordedProxy = Pick<ProxyView, 'id' | 'node' | 'embedded'>;
type RecordedRequest = Extract<FleetRequest, { op: 'recorded' }>;
/** Interval of requests to other nodes while an activation is waited for. */
const lookMs = 100;
/** Between two looks at so many proxies pass at least so many milliseconds each: a thousand may speak within one second. */
const lookPerProxyMs = 1 / 20;

export class FleetAdmin {
  readonly #options: FleetAdminOptions;

  constructor(options: FleetAdminOptions) {
    this.#options = options;
  }

  async list(): Promise<FleetView> {
    const { fleet, peers, roster, nodeId } = this.#options;
    const answering = new Map<string, string | undefined>([[nodeId, undefined]]);
    const unreachable: string[] = [];
    const others = await Promise.all(
      (await peers()).map(async (peer) => {
        const answer = await peer.ask({ op: 'view' }, askMs);
        if (isNodeView(answer)) {
          answering.set(peer.nodeId, undefined);
          return answer;
        }
        unreachable.push(peer.nodeId);
        return undefined;
      }),
    );
    const views = [fleet.view(), ...others.filter((view) => view !== undefined)];
    const heard = new Set(views.flatMap(({ proxies }) => proxies.map(({ id }) => id)));
    const unheard = { proxies: roster.unheard(answering, heard), anonymous: 0 };
    return fleetOf([...views, unheard], unreachable.sort());
  }

  /** Returns a proxy; of two with one id the live one, or the first. Throws NOT_FOUND. */
  async get(id: string): Promise<ProxyView> {
    const found = (await this.list()).proxies.filter((proxy) => proxy.id === id);
    const proxy = found.find(({ state }) => state !== 'disconnected') ?? found[0];
    if (proxy === undefined) throw new SluiceError('NOT_FOUND', `proxy ${JSON.stringify(id)} not found`);
    return proxy;
  }

  /** Returns the disks of all nodes, ascending by name. */
  async disks(): Promise<readonly MemberDisks[]> {
    const { nodeId, peers } = this.#options;
    const others = (await peers()).map(async (peer): Promise<MemberDisks> => {
      const told = nodeDisksOf(await peer.ask({ op: 'disks' }, askMs));
      return { nodeId: peer.nodeId, ...(told ?? { disks: null, problem: null }) };
    });
    const all = await Promise.all([this.#ownDisks().then((own) => ({ nodeId, ...own })), ...others]);
    return all.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  }

  /** Asks the other nodes for the mismatches of their mirrors. */
  async mismatches(limit: number): Promise<readonly NodeMismatches[]> {
    const peers = await this.#options.peers();
    return Promise.all(
      peers.map(async (peer) => ({
        node: peer.nodeId,
        mismatches: mismatchesOf(await peer.ask({ op: 'mismatches', limit }, askMs)),
      })),
    );
  }

  async #ownDisks(): Promise<NodeDisks> {
    return (await this.#options.disks?.()) ?? { disks: [], problem: null };
  }

  /** Returns what the nodes that answer have heard of the comparisons of a rollout; undefined when none knows of it. */
  async shadow(rollout: string): Promise<ShadowReport | undefined> {
    const { fleet, peers } = this.#options;
    const answers = (await peers()).map((peer) => peer.ask({ op: 'shadow' }, askMs));
    const reports = [fleet.shadowWord(), ...(await Promise.all(answers))]
      .filter(isShadowReport)
      .filter((report) => report.rollout === rollout);
    const counts = sumOfShadows(reports.map((report) => report.counts));
    return counts && { rollout, counts, examples: joinedExamples(reports.map(({ examples }) => examples)) };
  }

  /** Drops a proxy that has left from every list. Throws NOT_FOUND, and CONFLICT while it is connected. */
  async forget(id: string): Promise<void> {
    const { state } = await this.get(id);
    if (state !== 'disconnected') {
      throw new SluiceError('CONFLICT', `proxy ${JSON.stringify(id)} is connected: stop it first`);
    }
    this.#options.fleet.forget(id);
    this.#options.roster.forget(id);
    await Promise.all((await this.#options.peers()).map((peer) => peer.ask({ op: 'forget', id }, askMs)));
  }

  /**
   * Takes an acknowledgement. Throws CONFLICT for a stream that no node holds, and UNAVAILABLE when its node cannot be
   * asked.
   */
  async acknowledge(message: AcknowledgementMessage): Promise<void> {
    await this.#pass(message.token, { op: 'acknowledge', message }, () => this.#options.fleet.acknowledge(message));
  }

  /** As above. */
  async report(message: ReportMessage): Promise<void> {
    await this.#pass(message.token, { op: 'report', message }, () => this.#options.fleet.report(message));
  }

  /** As above. */
  async answered(message: AnswerMessage): Promise<void> {
    await this.#pass(message.token, { op: 'answer', message }, () => this.#options.fleet.answered(message));
  }

  /** Asks the proxy of a node, or one that follows it, for recorded requests; undefined: it does not answer in time. */
  async recorded({ id, node, embedded }: RecordedProxy, page: PageQuestion): Promise<PageAnswer | undefined> {
    const question = { op: 'recorded', proxy: embedded ? null : id, page } as const;
    if (node === this.#options.nodeId) return pageAnswerOf(await this.#ownRecorded(question, recordedMs));
    const peer = (await this.#options.peers()).find(({ nodeId }) => nodeId === node);
    return pageAnswerOf(await peer?.ask(question, recordedMs + askMs));
  }

  async #ownRecorded({ proxy, page }: RecordedRequest, withinMs: number): Promise<object> {
    const { fleet, recorded } = this.#options;
    if (proxy === null) return (await recorded?.(page)) ?? {};
    return pageAnswerOf(await fleet.ask(proxy, { op: 'recorded', ...page }, withinMs)) ?? {};
  }

  /** Takes a report about leases. Throws CONFLICT and UNAVAILABLE as `acknowledge` does. */
  leases(message: LeaseMessage): Promise<LeaseReply> {
    return this.#options.leases.take(message);
  }

  /** Answers a request of another node. Throws INVALID, and UNAVAILABLE for what the leader alone answers. */
  answer(question: FleetRequest): Promise<object> | object {
    const { fleet, roster, traffic, leases, mismatches } = this.#options;
    switch (question.op) {
      case 'view':
        return fleet.view();
      case 'progress':
        return fleet.progress(question.index);
      case 'rollout':
        return fleet.rolloutWord();
      case 'shadow':
        return fleet.shadowWord();
      case 'roster':
        return fleet.roster(question);
      case 'forget':
        return { known: [fleet.forget(question.id), roster.forget(question.id)].includes(true) };
      case 'acknowledge':
        return { known: fleet.acknowledge(question.message) };
      case 'report':
        return { known: fleet.report(question.message) };
      case 'answer':
        return { known: fleet.answered(question.message) };
      case 'recorded':
        return this.#ownRecorded(question, recordedMs);
      case 'leases':
        return leases.takeForPeer(question.message);
      case 'lease':
        return leases.lead(question.holder, question.report);
      case 'leaseLedger':
        return leases.copy(question.term);
      case 'leaseEnded':
        return leases.ended(question.holder);
      case 'disks':
        return this.#ownDisks();
      case 'mismatches':
        return mismatchesAnswer(mismatches?.()?.list(question.limit) ?? []);
      case 'traffic':
        return traffic?.()?.answer(question) ?? {};
    }
  }

  /** Resolves when so many proxies of the cluster have the activation, when one refuses it, after `withinMs`, or when the node stops. */
  async converge(index: number, want: Want, withinMs: number, isStopping = () => false): Promise<Convergence> {
    const { fleet, nodeId, clock, roster } = this.#options;
    const startedMs = clock.monotonicMs();
    const convergences = new Convergences(want);
    const peers = await this.#options.peers();
    const news = new News(fleet, clock);
    try {
      for (;;) {
        const leftMs = startedMs + withinMs - clock.monotonicMs();
        await Promise.all(peers.map((peer) => this.#look(peer, index, convergences, Math.max(1, leftMs))));
        convergences.heard(nodeId, fleet.progress(index));
        convergences.unheardProxies(roster.unheard(convergences.lives(), convergences.live()));
        const tookMs = clock.monotonicMs() - startedMs;
        if (convergences.isOver || tookMs >= withinMs || isStopping()) return convergences.result(tookMs);
        await news.wait(convergences.size * lookPerProxyMs, Math.min(lookMs, withinMs - tookMs));
      }
    } finally {
      news.close();
    }
  }

  async #look(peer: FleetPeer, index: number, convergences: Convergences, withinMs: number): Promise<void> {
    const answer = await peer.ask({ op: 'progress', index }, Math.min(askMs, withinMs));
    if (isProgress(answer)) convergences.heard(peer.nodeId, answer);
    else convergences.unheard(peer.nodeId);
  }

  async #pass(token: string, question: FleetRequest, own: () => boolean): Promise<void> {
    const nodeId = nodeOfToken(token);
    if (nodeId === this.#options.nodeId) {
      if (own()) return;
      throw unknownStream();
    }
    // Two lives of one name may be members at a time: one of them has it.
    const holders = (await this.#options.peers()).filter((peer) => peer.nodeId === nodeId);
    if (holders.length === 0) throw unknownStream();
    const answers = await Promise.all(holders.map((peer) => peer.ask(question, askMs)));
    if (answers.some((answer) => isObject(answer) && answer.known === true)) return;
    if (answers.every((answer) => isObject(answer))) throw unknownStream();
    throw new SluiceError('UNAVAILABLE', `node ${nodeId}, which holds the stream, does not answer`);
  }
}

/** Wakes waiters after a change, or after a while. */
class News {
  readonly #clock: Clock;
  readonly #unsubscribe: () => void;
  #isNew = false;
  #wake: (() => void) | undefined;

  constructor(fleet: Fleet, clock: Clock) {
    this.#clock = clock;
    this.#unsubscribe = fleet.subscribe(() => {
      this.#isNew = true;
      this.#wake?.();
    });
  }

  /** Not before `leastMs` unless that is under a millisecond, and not after `mostMs`. */
  async wait(leastMs: number, mostMs: number): Promise<void> {
    const restMs = Math.min(leastMs, mostMs);
    if (restMs >= 1) await new Promise<void>((resolve) => void this.#clock.after(restMs, resolve));
    await this.#next(mostMs - restMs);
  }

  close(): void {
    this.#unsubscribe();
  }

  #next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#isNew = false;
        this.#wake = undefined;
        resolve();
      };
      const cancel = this.#clock.after(withinMs, wake);
      this.#wake = wake;
      if (this.#isNew) wake();
    });
  }
}

const unknownStream = (): SluiceError =>
  new SluiceError('CONFLICT', 'no node holds a stream with this token: open the stream anew');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// Nodes of one cluster trust each other's reports; only their shape is checked, for a newer program may send more.
const isNodeView = (value: unknown): value is NodeView =>
  isObject(value) &&
  Array.isArray(value.proxies) &&
  value.proxies.every(isObject) &&
  typeof value.anonymous === 'number';

const isShadowReport = (value: unknown): value is ShadowReport =>
  isObject(value) &&
  isObject(value.counts) &&
  isShadowCounts(value.counts) &&
  isObject(value.examples) &&
  Object.values(value.examples).every(Array.isArray);

const isProgress = (value: unknown): value is NodeProgress =>
  isObject(value) && Array.isArray(value.proxies) && value.proxies.every(isObject);
