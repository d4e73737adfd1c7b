// Programs whose configurations `import` reads, as the command names them.
export const programs = ['ingress-nginx', 'kong', 'traefik', 'nginx', 'caddy', 'haproxy'] as const;

export type Program = (typeof programs)[number];
