// Stays enabled in production: a broken invariant stops the node before it can spread.

class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function invariant(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new InvariantError(message());
}
