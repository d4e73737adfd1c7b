// Schema of a kind from the OpenAPI document of the node, as the form walks it.
import { get } from '../lib/api.ts';
import type { EditedKind, Json } from '../lib/types.ts';

export interface Schema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: Json;
  readonly example?: Json;
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
}

type Schemas = Readonly<Record<string, Schema>>;

let document: Promise<Schemas> | undefined;

const names: Readonly<Record<EditedKind, string>> = {
  routes: 'Route',
  destinations: 'Destination',
  middlewares: 'Middleware',
  listeners: 'Listener',
  groups: 'Group',
  streamRoutes: 'StreamRoute',
  consumers: 'Consumer',
  secrets: 'Secret',
};

/** Returns the schema of a kind, and the function that follows references in it. */
export async function schemaOf(kind: EditedKind): Promise<{ schema: Schema; resolve: (schema: Schema) => Schema }> {
  document ??= get<{ readonly components: { readonly schemas: Schemas } }>('/docs/doc.json').then(
    ({ components }) => components.schemas,
  );
  const schemas = await document.catch((error: unknown) => {
    document = undefined;
    throw error;
  });
  const resolve = (schema: Schema): Schema => {
    const [inner] = schema.allOf ?? [];
    const reference = schema.$ref ?? inner?.$ref;
    if (reference === undefined) return inner === undefined ? schema : { ...resolve(inner), ...schema };
    const target = schemas[reference.slice('#/components/schemas/'.length)] ?? {};
    const { description = target.description, default: standard = target.default } = schema;
    return {
      ...resolve(target),
      ...(description !== undefined && { description }),
      ...(standard !== undefined && { default: standard }),
    };
  };
  return { schema: resolve({ $ref: `#/components/schemas/${names[kind]}` }), resolve };
}
