// Endpoints of a destination with health, ejection and circuit breaker as the proxy of this node sees them, and their drain.
import { useState } from 'preact/hooks';
import { say } from '../frame/messages.tsx';
import { ApiError, call, get, messageOf } from '../lib/api.ts';
import { useLook, useWatched, watchEvents } from '../lib/live.ts';
import { refusal } from '../lib/store.ts';
import { Act, Badge, Empty, Problem, SimpleTable, type Tone } from '../parts/basics.tsx';

interface EndpointState {
  readonly endpoint: string;
  readonly state: 'available' | 'unhealthy' | 'ejected' | 'drained';
}

interface DestinationState {
  readonly destinationId: string;
  readonly name: string | null;
  readonly circuit: string | null;
  readonly endpoints: readonly EndpointState[];
}

const lookMs = 5_000;
const tones: Readonly<Record<EndpointState['state'], Tone>> = {
  available: 'good',
  unhealthy: 'bad',
  ejected: 'bad',
  drained: 'warn',
};

export function Endpoints({ id }: { readonly id: string }) {
  const [state, setState] = useState<DestinationState>();
  const [problem, setProblem] = useState<string>();
  const path = `/destinations/${encodeURIComponent(id)}/endpoints`;
  const look = async (): Promise<void> => {
    try {
      setState(await get<DestinationState>(path));
      setProblem(undefined);
    } catch (error) {
      setProblem(
        error instanceof ApiError && error.status === 404 ? `The destination ${id} does not exist.` : messageOf(error),
      );
    }
  };
  const [watched] = useState(() => watchEvents(['drains', 'active'], () => void look()));
  useWatched(watched);
  useLook(() => void look(), lookMs, [path]);
  const drain = async (endpoint: string, method: 'POST' | 'DELETE'): Promise<void> => {
    try {
      await call(method, `${path}/${encodeURIComponent(endpoint)}/drain`);
      say(method === 'POST' ? `${endpoint} gets no new requests.` : `${endpoint} gets requests again.`);
      await look();
    } catch (error) {
      say(messageOf(error), 'bad');
    }
  };
  return (
    <section class="card">
      <h2>
        Endpoints of {state?.name ?? id}
        {state !== undefined && state.circuit !== null && ' '}
        {state !== undefined && state.circuit !== null && (
          <Badge tone={state.circuit === 'closed' ? 'good' : 'bad'}>circuit {state.circuit}</Badge>
        )}
      </h2>
      <Problem text={problem} />
      {state?.endpoints.length === 0 && <Empty>It is not active, or has no endpoints.</Empty>}
      {state !== undefined && state.endpoints.length > 0 && (
        <SimpleTable
          name={`Endpoints of ${state.name ?? id}`}
          head={['Endpoint', 'State', '']}
          rows={state.endpoints.map(({ endpoint, state: now }) => ({
            key: endpoint,
            cells: [
              <code key="name">{endpoint}</code>,
              <Badge key="state" tone={tones[now]}>
                {now}
              </Badge>,
              now === 'drained' ? (
                <Act key="act" refused={refusal('editor')} onAct={() => drain(endpoint, 'DELETE')}>
                  Undo drain of {endpoint}
                </Act>
              ) : (
                <Act key="act" refused={refusal('editor')} onAct={() => drain(endpoint, 'POST')}>
                  Drain {endpoint}
                </Act>
              ),
            ],
          }))}
        />
      )}
    </section>
  );
}
