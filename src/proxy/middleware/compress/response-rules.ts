// Rules for responses that are compressed, and for their fields (contract.md §8.9). They read the response alone, not the
// client's codings: a response that they let pass varies by Accept-Encoding for every client.
import { compressDefaults } from '../../../model/defaults.ts';
import type { CompressAlgorithm, CompressConfig } from '../../../model/middleware/compress-options.ts';
import { listElements } from '../../fields/field-lines.ts';
import { isGrpc } from '../../message/grpc.ts';
import type { ExchangeResponse } from '../../message/response.ts';

/** Returns whether a response would be compressed for a client that accepts a coding. */
export type IsCompressible = (response: ExchangeResponse, method: string) => boolean;

/** Fields that say something about the bytes of the content: a coding would make them wrong. */
const digests = ['content-digest', 'repr-digest', 'digest', 'content-md5'];

export function compileRules({
  types = compressDefaults.types,
  minBytes = compressDefaults.minBytes,
}: CompressConfig): IsCompressible {
  const hasType = compileTypes(types);
  return (response, method) => {
    const { status } = response;
    if (status < 200 || status === 204 || status === 205 || status === 206 || status === 304) return false;
    if (response.upgrade !== '' || (method !== 'HEAD' && !hasBody(response))) return false;
    const type = response.header('content-type');
    if (type === undefined || !hasType(type) || isGrpc(response)) return false;
    const length = lengthOf(response);
    if (length !== undefined && (length === 0 || length < minBytes)) return false;
    const coding = response.header('content-encoding');
    if (coding !== undefined && coding.toLowerCase() !== 'identity') return false;
    if (forbidsTransforming(response.header('cache-control')) || response.header('content-range') !== undefined)
      return false;
    return digests.every((name) => response.header(name) === undefined);
  };
}

const hasBody = ({ own, source, bodyKind }: ExchangeResponse): boolean =>
  own !== undefined || (source !== undefined && bodyKind !== 'none');

/** Length that the response declares; undefined when it is unknown. */
function lengthOf(response: ExchangeResponse): number | undefined {
  if (response.own !== undefined) return response.own.length;
  if (response.bodyKind === 'length') return response.bodyLength;
  const declared = response.bodyKind === 'none' ? response.header('content-length') : undefined;
  return declared === undefined ? undefined : Number(declared);
}

export const forbidsTransforming = (cacheControl: string | undefined): boolean =>
  cacheControl !== undefined && /(?:^|[\s,])no-transform(?:$|[\s,=])/i.test(cacheControl);

function compileTypes(types: readonly string[]): (contentType: string) => boolean {
  const ranges = types.map((type) => type.toLowerCase());
  const exact = new Set(ranges);
  const wholes = new Set(ranges.filter((range) => range.endsWith('/*')).map((range) => range.slice(0, -1)));
  if (wholes.has('*/')) return () => true;
  return (contentType) => {
    const end = contentType.indexOf(';');
    const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
    return exact.has(type) || wholes.has(type.slice(0, type.indexOf('/') + 1));
  };
}

/** Adds Accept-Encoding to Vary, once. */
export function varyByCoding(response: ExchangeResponse): void {
  const vary = response.header('vary');
  const names = vary === undefined ? [] : listElements(vary);
  if (!names.some((name) => name === '*' || name.toLowerCase() === 'accept-encoding'))
    response.edits.append('Vary', 'Accept-Encoding');
}

/** Fields of a response that is sent in that coding: its bytes are others than those that a strong ETag names. */
export function setCoding(response: ExchangeResponse, coding: CompressAlgorithm): void {
  const { edits } = response;
  edits.set('Content-Encoding', coding);
  edits.remove('accept-ranges');
  weakenTag(response);
}

function weakenTag(response: ExchangeResponse): void {
  const tag = response.header('etag');
  if (tag?.startsWith('"') === true) response.edits.set('ETag', `W/${tag}`);
}

/**
 * A 304 to a client that holds a compressed response names the tag that this client got: a cache must not refresh it as
 * the plain one (RFC 9111 §4.3.4).
 */
export function weakenConfirmedTag(response: ExchangeResponse, ifNoneMatch: string | undefined): void {
  const tag = response.header('etag');
  if (tag !== undefined && ifNoneMatch?.includes(`W/${tag}`) === true) weakenTag(response);
}
