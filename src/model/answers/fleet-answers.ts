// The fleet as the API shows it (fleet.md §5): what each node knows of the proxies whose streams it holds, put together.
// Plain data: it travels between nodes as JSON.
import { count, flag, list, map, nullable, number, object, oneOf, record, text, time } from '../json-type.ts';
import type { Problem } from '../problem.ts';
import { Component, Optional, Required } from '../property.ts';
import { ListenerReport, listenerReports, problemTexts, wholeNumber } from './proxy-messages.ts';

export class Version {
  @Required(wholeNumber, 'Log index of the activation.')
  readonly index!: number;

  @Required(nullable(text), 'Id of the snapshot, where it is remembered.')
  readonly snapshotId!: string | null;

  @Required(text, 'Of the canonical JSON of the lists, hex.')
  readonly sha256!: string;
}

export const proxyStates = ['current', 'behind', 'refused', 'disconnected'] as const;
export type ProxyState = (typeof proxyStates)[number];

@Component('A proxy, as the node knows it that holds its stream.', { as: 'FleetProxy' })
export class ProxyView {
  @Required(text, 'Its own name; that of the node for one within a node.')
  readonly id!: string;

  @Required(flag, 'It is a node.')
  readonly embedded!: boolean;

  @Required(map(text), 'Of its settings.')
  readonly labels!: Readonly<Record<string, string>>;

  @Required(text, 'Of its program.')
  readonly version!: string;

  @Required(text, 'Node that holds its stream, or held it last.')
  readonly node!: string;

  @Required(text, 'From where it connected; empty for one within a node.')
  readonly address!: string;

  @Required(time, 'When its stream began.')
  readonly connectedAt!: string;

  @Required(time, 'When it said something last.')
  readonly lastSeen!: string;

  @Required(nullable(object(Version)), 'What it runs.')
  readonly installed!: Version | null;

  @Required(nullable(object(Version)), 'What is active, as its node knows.')
  readonly wanted!: Version | null;

  @Required(nullable(object(Version)), 'What it runs beside that.')
  readonly candidate!: Version | null;

  @Required(oneOf(proxyStates), 'How it is with what is active.')
  readonly state!: ProxyState;

  @Required(problemTexts, 'What is closed, or why it was refused.')
  readonly problems!: readonly Problem[];

  @Required(listenerReports, 'The listeners of the configuration that is installed.')
  readonly listeners!: readonly ListenerReport[];

  @Required(nullable(number), 'By its last report; null without one.')
  readonly requestsPerSecond!: number | null;

  @Required(
    nullable(number),
    'Share of the requests answered with 500 and above, or with an error of the proxy itself that is none of 400 to 499; 0 to 1.',
  )
  readonly errorRate!: number | null;

  @Optional(flag, 'Another live stream has the same id.')
  readonly duplicate?: boolean;
}

/** Fleet as one node knows it. */
export class NodeView {
  @Required(list(object(ProxyView)), 'Ascending by id.')
  readonly proxies!: readonly ProxyView[];

  @Required(wholeNumber, 'Streams of proxies that do not introduce themselves.')
  readonly anonymous!: number;
}

const summaryTexts = {
  total: 'All that are listed.',
  current: 'Run what is active.',
  behind: 'Do not run it yet.',
  refused: 'Refuse it.',
  disconnected: 'Have left within the last 24 hours.',
} as const satisfies Record<ProxyState | 'total', string>;

@Component('All proxies of the cluster.', { as: 'Fleet' })
export class FleetView extends NodeView {
  @Required(
    record(['total', ...proxyStates], wholeNumber, (state) => summaryTexts[state]),
    'How many proxies are in which state.',
  )
  readonly summary!: Readonly<Record<ProxyState | 'total', number>>;

  @Required(list(text), 'Nodes that did not answer: their proxies are missing here.')
  readonly unreachableNodes!: readonly string[];
}

/** A proxy that no node hears, as it was known last. */
export class UnheardProxy {
  @Required(text, 'Its id.')
  readonly proxy!: string;

  @Required(text, 'Node that held its stream.')
  readonly node!: string;

  @Required(text, 'When that node told of it last, RFC 3339 UTC.')
  readonly lastSeen!: string;
}

export class ProxyRefusal {
  @Required(text, 'Its id.')
  readonly proxy!: string;

  @Required(problemTexts, 'What is closed, or why it was refused.')
  readonly problems!: readonly Problem[];
}

@Component('How far the proxies are that were waited for.')
export class Convergence {
  @Required(wholeNumber, 'So many were asked for, of those that there are.')
  readonly wanted!: number;

  @Required(wholeNumber, 'Have it installed.')
  readonly installed!: number;

  @Required(wholeNumber, 'Refuse it.')
  readonly refused!: number;

  @Required(wholeNumber, 'Have not said.')
  readonly pending!: number;

  @Required(list(text), 'Their ids.')
  readonly pendingProxies!: readonly string[];

  @Required(
    list(object(UnheardProxy)),
    'Of the pending ones, those that no node hears: their node was removed, is cut off or began anew.',
  )
  readonly unheard!: readonly UnheardProxy[];

  @Required(wholeNumber, 'How long was waited, in milliseconds.')
  readonly tookMs!: number;

  @Required(list(object(ProxyRefusal)), 'Who refuses it, and why.')
  readonly refusals!: readonly ProxyRefusal[];
}

export class DiskState {
  @Required(text, 'Directory of the store.')
  readonly path!: string;

  @Required(count, 'Bytes that the node may still write there.')
  readonly freeBytes!: number;

  @Required(count, 'Size of the file system.')
  readonly totalBytes!: number;

  @Required(
    oneOf(['fine', 'low', 'full']),
    '`low`: below 10 % or 1 GiB, whichever is less, or of the inodes 10 % or 1,000. `full`: below 2 % or 256 MiB, whichever is less, or ' +
      '2 % or 100 inodes; a leader refuses writes and hands over.',
  )
  readonly state!: 'fine' | 'low' | 'full';
}

@Component('Disks of a node.', { as: 'NodeDisks' })
export class MemberDisks {
  @Required(text, 'Name of the node.')
  readonly nodeId!: string;

  /** Directories whose disk the system does not measure are left out. */
  @Required(nullable(list(object(DiskState))), 'Null: the node does not answer.')
  readonly disks!: readonly DiskState[] | null;

  @Required(nullable(text), 'Why the store takes no write, as in answers of 503; null while it takes them.')
  readonly problem!: string | null;
}
