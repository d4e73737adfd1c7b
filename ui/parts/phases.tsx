// Phases of a request as bars: before its last try, until there was a connection, until the first byte, until the end.
import { ms } from '../lib/format.ts';
import type { RecentRequest } from '../lib/types.ts';
import { SimpleTable } from './basics.tsx';

type Timed = Pick<RecentRequest, 'durationMs' | 'proxyMs' | 'connectMs' | 'firstByteMs' | 'transferMs'>;

const phases = [
  { field: 'proxyMs', title: 'Sluice', about: 'middlewares, choices, earlier tries' },
  { field: 'connectMs', title: 'Connection', about: 'queued, or connecting' },
  { field: 'firstByteMs', title: 'First byte', about: 'the upstream works' },
  { field: 'transferMs', title: 'Transfer', about: 'until the response was sent' },
] as const;

/** Bar on a scale that all rows share: its length is logarithmic, its parts are shares of it. */
export function PhaseBar({ request }: { readonly request: Timed }) {
  const { durationMs } = request;
  const lasting = phases.filter(({ field }) => (request[field] ?? 0) > 0);
  const told = lasting.map(({ field, title }) => `${title} ${ms(request[field])}`).join(', ');
  return (
    <span class="bar" title={told}>
      <span class="phases" style={{ width: `${Math.min(60, Math.max(1, 6 * Math.log2(durationMs + 1)))}%` }}>
        {lasting.map(({ field }) => (
          <span key={field} class={`phase ${field}`} style={{ flexGrow: (request[field] ?? 0) / durationMs }} />
        ))}
      </span>
      {ms(durationMs)}
    </span>
  );
}

/** Table of the phases with their times, and a bar from begin to end. */
export function PhaseTable({ request }: { readonly request: Timed }) {
  const whole = Math.max(request.durationMs, Number.MIN_VALUE);
  let begin = 0;
  const rows = phases.map(({ field, title, about }) => {
    const took = request[field];
    const from = begin;
    begin += took ?? 0;
    const place = { marginLeft: `${(100 * from) / whole}%`, width: `${(100 * (took ?? 0)) / whole}%` };
    return {
      key: field,
      cells: [
        <>
          {title} <span class="about extra">{about}</span>
        </>,
        ms(took),
        <span key="bar" class="track" aria-hidden="true">
          <span class={`phase ${field}`} style={place} />
        </span>,
      ],
    };
  });
  const total = {
    key: 'total',
    cells: [<strong key="total">Total</strong>, <strong key="ms">{ms(request.durationMs)}</strong>, ''],
  };
  return <SimpleTable name="Phases" head={['Phase', 'Time', '']} rows={[...rows, total]} />;
}
