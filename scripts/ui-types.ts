// Types of the answers that the dashboard reads, from the schemas of the OpenAPI document.

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

/** Answers that pages read; what they refer to follows. Resources are not among them: the form walks their schemas. */
const read = [
  'Activation',
  'ApiKey',
  'Cluster',
  'ConfigurationDifference',
  'CookieKey',
  'Explanation',
  'Fleet',
  'LogLevels',
  'MadeApiKey',
  'MirrorMismatch',
  'NodeDisks',
  'RecentRequest',
  'Rollout',
  'SnapshotSummary',
  'Stats',
];

/** Returns the text of `ui/lib/openapi.ts`. */
export function typesOf(document: unknown): string {
  const { schemas } = (document as { components: { schemas: Record<string, Schema> } }).components;
  const named = new Set(read);
  const texts = new Map<string, string>();
  // A set gives what is added while it is walked.
  for (const name of named) {
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    texts.set(
      name,
      typeOf(schema, (other) => named.add(other), 2),
    );
  }
  const lines = [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `    readonly ${name}: ${text};`);
  return `// Written by \`npm run ui:types\` from the OpenAPI document.\n\nexport interface components {\n  readonly schemas: {\n${lines.join('\n')}\n  };\n}\n`;
}

function typeOf(schema: Schema, refer: (name: string) => void, depth: number): string {
  const text = plainType(schema, refer, depth);
  return schema.nullable === true ? `${text} | null` : text;
}

function plainType(schema: Schema, refer: (name: string) => void, depth: number): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    const name = reference.slice('#/components/schemas/'.length);
    refer(name);
    return `components['schemas'][${JSON.stringify(name)}]`.replaceAll('"', "'");
  }
  if (schema.oneOf !== undefined) return schema.oneOf.map((each) => typeOf(each, refer, depth)).join(' | ');
  if (schema.enum !== undefined) return schema.enum.map((each) => `'${String(each)}'`).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return `readonly (${typeOf(schema.items ?? {}, refer, depth)})[]`;
    case 'object':
      return objectType(schema, refer, depth);
    default:
      return 'unknown';
  }
}

function objectType(schema: Schema, refer: (name: string) => void, depth: number): string {
  const { properties, additionalProperties, required = [] } = schema;
  if (properties === undefined || additionalProperties === true) {
    const of = typeof additionalProperties === 'object' ? typeOf(additionalProperties, refer, depth) : 'unknown';
    if (properties === undefined) return `{ readonly [name: string]: ${of} }`;
  }
  const indent = '  '.repeat(depth + 1);
  const fields = Object.entries(properties ?? {}).map(
    ([name, inner]) =>
      `${indent}readonly ${/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`}${required.includes(name) ? '' : '?'}: ${typeOf(inner, refer, depth + 1)};`,
  );
  return `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`;
}
