/** Waits until `look` returns without throwing and gives its value; fails with its last error after `withinMs`. */
export async function eventually<T>(look: () => T | Promise<T>, { withinMs = 15_000 } = {}): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
