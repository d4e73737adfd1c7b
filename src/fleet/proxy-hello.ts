// Introduction of a proxy in the request for the stream (fleet.md §3). A stream without a name, or with an invalid
// one, is anonymous: it gets the plain events.
import type { IncomingHttpHeaders } from 'node:http';

export interface ProxyHello {
  readonly id: string;
  readonly boot: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  /**
   * Rollout whose candidate it has, and its newest known command about candidates, by index in the log of a cluster.
   */
  readonly trial: { readonly rollout: string; readonly clusterId: string; readonly index: number } | undefined;
  /** Configuration that it has already. */
  readonly has: { readonly clusterId: string; readonly index: number; readonly sha256: string } | undefined;
}

const textMax = 64;
const labelsMax = 32;

export function proxyHelloOf(headers: IncomingHttpHeaders): ProxyHello | undefined {
  const id = text(headers['x-sluice-proxy'], 128);
  if (id === undefined || !/^[A-Za-z0-9._~:-]+$/.test(id)) return undefined;
  return {
    id,
    boot: text(headers['x-sluice-boot'], textMax) ?? '',
    version: text(headers['x-sluice-version'], textMax) ?? '',
    labels: labelsOf(text(headers['x-sluice-labels'], 16_384) ?? ''),
    trial: trialOf(text(headers['x-sluice-candidate'], 512) ?? ''),
    has: hasOf(text(headers['x-sluice-has'], 512) ?? ''),
  };
}

function text(value: string | string[] | undefined, lengthMax: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= lengthMax ? value : undefined;
}

function labelsOf(header: string): Record<string, string> {
  const labels: [string, string][] = [];
  for (const pair of header.split(',').slice(0, labelsMax)) {
    const [, key, value] = /^([^=]+)=(.*)$/.exec(pair.trim()) ?? [];
    if (key === undefined || value === undefined) continue;
    try {
      labels.push([decodeURIComponent(key).slice(0, textMax), decodeURIComponent(value).slice(0, textMax)]);
    } catch {
      // What is not percent-encoded as it should be is no label.
    }
  }
  return Object.fromEntries(labels);
}

function hasOf(header: string): ProxyHello['has'] {
  const [, clusterId, index, sha256] = /^(\S{1,128}) (\d{1,15}) ([0-9a-f]{64})$/.exec(header) ?? [];
  if (clusterId === undefined || index === undefined || sha256 === undefined) return undefined;
  return { clusterId, index: Number(index), sha256 };
}

function trialOf(header: string): ProxyHello['trial'] {
  const [, rollout, clusterId = '', index = '0'] = /^(\S{1,128})(?: (\S{1,128}) (\d{1,15}))?$/.exec(header) ?? [];
  return rollout === undefined ? undefined : { rollout, clusterId, index: Number(index) };
}
