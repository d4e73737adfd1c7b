// Choice of a content coding by Accept-Encoding (RFC 9110 §12.5.3).

/** Returns whether a client takes brotli: it names `br`, or `*`, with a weight above 0. */
export function acceptsBrotli(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  const weights = new Map(
    [header]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [coding = '', ...parameters] = each.split(';').map((part) => part.trim());
        const weight = parameters.find((part) => part.startsWith('q='));
        return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const;
      }),
  );
  return (weights.get('br') ?? weights.get('*') ?? 0) > 0;
}
