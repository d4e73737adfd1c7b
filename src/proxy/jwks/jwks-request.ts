// One request for a JWKS document: straight to the destination's host and port, with its TLS, past its endpoints and
// everything that guards them (contract.md §8.0).
import { isIP } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { destinationDefaults } from '../../model/defaults.ts';
import type { Destination } from '../../model/destination.ts';
import { durationMs } from '../duration.ts';
import { needsSystemRoots, readySystemRoots } from '../tls/system-roots.ts';
import { versionOptions } from '../tls/versions.ts';

export interface JwksPlace {
  readonly destination: Destination;
  /** Starts with `/`. */
  readonly path: string;
  /** For whoever asks: the request itself ends with its signal. */
  readonly timeoutMs: number;
}

/** Documents are a few KB; nobody can make us read more than this. */
const bytesMax = 1024 * 1024;

/** The text of a 200, of any content type. Rejects with the reason for everything else. */
export async function requestJwks({ destination, path }: JwksPlace, signal: AbortSignal): Promise<string> {
  if (needsSystemRoots(destination)) await readySystemRoots();
  const agent = new Agent({ ...connecting(destination), connections: 1 });
  try {
    const { statusCode, body } = await request(`${originOf(destination)}${path}`, {
      dispatcher: agent,
      signal,
      headers: { accept: 'application/json' },
    });
    if (statusCode !== 200) throw new Error(`answers ${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) continue;
      bytes += chunk.length;
      if (bytes > bytesMax) throw new Error(`answers with more than ${bytesMax} bytes`);
      chunks.push(Buffer.from(chunk));
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    await agent.destroy();
  }
}

const isSecure = ({ options }: Destination): boolean => (options?.tls?.mode ?? destinationDefaults.tls.mode) !== 'none';

function originOf(destination: Destination): string {
  const host = destination.host.replace(/^\[(.*)\]$/, '$1');
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  return `${isSecure(destination) ? 'https' : 'http'}://${bracketed}:${destination.port}`;
}

function connecting(destination: Destination): Agent.Options {
  const { tls, timeouts, http2 = destinationDefaults.http2 } = destination.options ?? {};
  const timeout = durationMs(timeouts?.connect, durationMs(destinationDefaults.timeouts.connect, 0));
  if (!isSecure(destination) || tls === undefined)
    return { connect: { timeout }, allowH2: http2, h2Options: { useH2c: http2 } };
  const connect = buildConnector({
    timeout,
    allowH2: http2,
    preferH2: true,
    ...(tls.mode === 'mtls' ? { cert: tls.cert, key: tls.key } : {}),
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...versionOptions(tls),
  });
  const name = tls.sni ?? destination.host;
  // What the client would ask for by itself is the host of the URL.
  return {
    connect: (options, callback) => connect(isIP(name) === 0 ? { ...options, servername: name } : options, callback),
    allowH2: http2,
  };
}
