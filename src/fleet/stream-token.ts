// Names one stream of one node, in acknowledgements and reports that may come in at any node (fleet.md §4).

/** `random` is of base64url and never the same twice. */
export const streamToken = (nodeId: string, random: string): string =>
  `${Buffer.from(nodeId).toString('base64url')}.${random}`;

/** Node that holds the stream; undefined for what is no token. */
export function nodeOfToken(token: string): string | undefined {
  const [, node] = /^([A-Za-z0-9_-]{1,400})\.[A-Za-z0-9_-]{8,64}$/.exec(token) ?? [];
  return node === undefined ? undefined : Buffer.from(node, 'base64url').toString();
}
