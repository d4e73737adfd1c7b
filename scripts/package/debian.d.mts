export function debianPackage(options: {
  readonly root: string;
  readonly executable: Buffer;
  readonly documents: readonly { readonly path: string; readonly bytes: Buffer }[];
  readonly version: string;
  readonly architecture: string;
  readonly date: number;
}): Buffer;
