// Roles of API keys (architecture.md §8). What each may do stands in src/resources/caller.ts.

export const roles = ['admin', 'editor', 'viewer', 'proxy'] as const;

export type Role = (typeof roles)[number];
