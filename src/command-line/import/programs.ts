// Programs whose configurations `import` reads, as the command names them.
export const programs = ['ingress-nginx', 'kong', 'traefik'] as const;

export type Program = (typeof programs)[number];
