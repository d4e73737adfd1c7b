// Internal bindings of Node, checked before they are used.

interface Found<B> {
  /** Undefined where it is not as expected. */
  readonly binding: B | undefined;
  readonly problem: string | undefined;
}

/** Returns the binding of that name, when `isExpected` holds of it. */
export function bindingOf<B>(name: string, isExpected: (binding: B) => boolean): Found<B> {
  try {
    const binding: B = Reflect.apply(Reflect.get(process, 'binding'), process, [name]);
    if (isExpected(binding)) return { binding, problem: undefined };
  } catch {
    // The same as one that lacks its parts.
  }
  return { binding: undefined, problem: `the binding ${name} of Node.js ${process.version} is not as expected` };
}
