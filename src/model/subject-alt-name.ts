// A name that the certificate of an upstream may have (contract.md §2.3.7).
import { allOf, anyOf, hasShaped } from './constraint.ts';
import { OneOf, Text } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { scalarProblemOf, serverName, uri } from './scalar.ts';

const subjectAltNameTypes = ['dns', 'uri'] as const;

export type SubjectAltNameType = (typeof subjectAltNameTypes)[number];

const kinds = { dns: serverName, uri } as const;

@Rules<SubjectAltName>(
  {
    valueIsOfItsType: ({ type, value }) => {
      const problem = Object.hasOwn(kinds, type) ? scalarProblemOf(kinds[type], value) : undefined;
      return problemIf(problem !== undefined, '/value', problem ?? '');
    },
  },
  allOf(anyOf(...subjectAltNameTypes.map((type) => hasShaped('type', type, 'value', kinds[type].schema.pattern)))),
)
export class SubjectAltName {
  @OneOf(subjectAltNameTypes, 'Kind of the name.', { required: true, example: 'uri' })
  readonly type!: SubjectAltNameType;

  @Text(
    'With `dns` a host name, which a wildcard of the certificate may cover, or `*.suffix`; with `uri` a URI, compared byte by byte.',
    {
      required: true,
      example: 'spiffe://cluster.local/ns/shop/sa/catalog',
    },
  )
  readonly value!: string;
}
