import type { CelInput } from '@bufbuild/cel';
import type { Vocabulary } from './random-expression.ts';

const keys = ['sub', 'level', 'admin', 'roles', 'nested', 'none'];

export const ofClaims: Vocabulary = {
  texts: [
    'claims.sub',
    'claims["sub"]',
    'claims.nested.team',
    ...['0', '1', '7', '-1'].map((index) => `claims.roles[${index}]`),
    'string(claims.level)',
    'string(claims.admin)',
  ],
  ints: ['size(claims.sub)', 'size(claims.roles)', 'size(claims)', 'int(claims.level)'],
  doubles: ['claims.nested.size', 'double(claims.level)'],
  lists: ['claims.roles', '[claims.sub, "ops"]'],
  numbers: ['claims.level'],
  conditions: keys.flatMap((key) => [
    `has(claims.${key})`,
    `"${key}" in claims`,
    `claims.${key}`,
    `has(claims.nested.${key === 'sub' ? 'team' : key})`,
  ]),
};

/**
 * Claims that the conditions read. No null, which one of the evaluators takes for absent; `nested` is a map wherever it is,
 * for has() of anything else is false to the library, and a failure to the other two as the language has it.
 */
export const claimsContexts: readonly Readonly<Record<string, CelInput>>[] = [
  { sub: 'ann', level: 5, admin: true, roles: ['admin', 'ops'], nested: { team: 'a', size: 2.5 } },
  { sub: '', level: -1.5, admin: false, roles: [], nested: {} },
  { sub: 'é😀', level: 4503599627370496, roles: ['ops', 'ops'], nested: { team: 'admin', size: 0 } },
  { level: '5', admin: 'yes', roles: 'admin', nested: { team: 7, size: 'big' } },
  {},
];
