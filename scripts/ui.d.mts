/** Files of the dashboard by name, and the modules that they were made of. */
export function bundleUi(root: string): Promise<{
  readonly files: Readonly<Record<string, Buffer>>;
  readonly inputs: readonly string[];
}>;

/** Writes them below a folder. */
export function writeUi(root: string, to: string): Promise<void>;
