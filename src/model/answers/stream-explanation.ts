// Explanations of connections of tcp listeners.
import { list, nullable, object, text } from '../json-type.ts';
import { Component, Required } from '../property.ts';
import { type StreamOutcome, streamOutcome } from './explained-outcome.ts';
import { ExplainedListener } from './explanation.ts';
import { IdAndName } from './id-and-name.ts';

export class MatchedConnection {
  @Required(text, 'Server name; empty: none.')
  readonly sni!: string;

  @Required(text, 'Client.')
  readonly clientIp!: string;
}

/** Explanation of a connection by one configuration. */
export class ConnectionExplanation {
  @Required(object(MatchedConnection), 'The connection as it is matched.')
  readonly connection!: MatchedConnection;

  @Required(object(ExplainedListener), 'Listener that is named, and the section of the server name.')
  readonly listener!: ExplainedListener;

  @Required(nullable(object(IdAndName)), 'Stream route that serves the connection; null where none matches.')
  readonly streamRoute!: IdAndName | null;

  @Required(
    streamOutcome,
    'What becomes of the connection: `stream` with `destinations`, as in an explanation of a request, or `close` ' +
      'with `error`.',
  )
  readonly outcome!: StreamOutcome;
}

@Component('Where a connection of a listener of protocol tcp goes, and why.')
export class StreamExplanation extends ConnectionExplanation {
  @Required(text, '`staged`, or the id of the snapshot.')
  readonly snapshot!: string;

  @Required(list(text), 'What could not be taken into account.')
  readonly notes!: readonly string[];
}
