export const nodeVersion: string;
export const targets: Readonly<Record<'linux-x64', { readonly integrity: string }>>;
