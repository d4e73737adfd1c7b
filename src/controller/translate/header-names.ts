// Names of header fields in lists of the Gateway API: they are compared without case, and of equal ones the first counts.

export function firstOfEachName<T extends { readonly name: string }>(fields: readonly T[] = []): T[] {
  const names = new Set<string>();
  return fields.filter(({ name }) => {
    const isFirst = !names.has(name.toLowerCase());
    names.add(name.toLowerCase());
    return isFirst;
  });
}
