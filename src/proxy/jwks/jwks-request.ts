// One request for a JWKS document: straight to the destination's host and port, with its TLS, past its endpoints and
// everything that guards them (contract.md §8.0).
import type { Destination } from '../../model/destination.ts';
import { ReceiveBuffer } from '../../util/receive-buffer.ts';
import { allowsH2, type ConnectorTools, connectorOf } from '../external/http-connector.ts';
import { originOf } from '../external/service-address.ts';
import { undici } from '../on-demand.ts';
import { loadSystemRoots, needsSystemRoots } from '../tls/system-roots.ts';
import { protocolOf } from '../upstream/protocol/protocol-of.ts';

export interface JwksLocation {
  readonly destination: Destination;
  /** Starts with `/`. */
  readonly path: string;
  /** Time limit that the caller enforces, milliseconds: the request itself ends with its signal. */
  /** 0 = no limit. */
  readonly timeoutMs: number;
}

/** Maximum size of a document, in bytes. Documents are a few KB; a server cannot make us read more than this. */
const bytesMax = 1024 * 1024;

/** The text of a 200, of any content type. Rejects with the reason for everything else. */
export async function requestJwks(
  { destination, path }: JwksLocation,
  signal: AbortSignal,
  tools: ConnectorTools,
): Promise<string> {
  if (needsSystemRoots(destination)) await loadSystemRoots();
  const { Agent, request } = undici();
  const protocol = protocolOf(destination.options);
  const connect = connectorOf(destination, protocol, tools);
  const agent = new Agent({ connect, allowH2: allowsH2(protocol), connections: 1 });
  try {
    const { statusCode, body } = await request(`${originOf(destination)}${path}`, {
      dispatcher: agent,
      signal,
      headers: { accept: 'application/json' },
    });
    if (statusCode !== 200) throw new Error(`answers ${statusCode}`);
    const come = new ReceiveBuffer();
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) continue;
      if (come.length + chunk.length > bytesMax) throw new Error(`answers with more than ${bytesMax} bytes`);
      come.append(chunk, 0, chunk.length);
    }
    return come.content.toString('utf8');
  } finally {
    await agent.destroy();
  }
}
