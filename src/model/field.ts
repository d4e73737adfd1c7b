// Decorators of fields, one per kind. Each says everything about the field at once: the check (class-validator), the
// OpenAPI property (@nestjs/swagger) and how JSON is read into it (`schema.ts`). A resource's schema is written in its
// class and nowhere else.
import { ApiExtraModels, ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import { IsDefined, IsOptional, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import type { ResultKind } from '../expression/cel/compiled-program.ts';
import { recordChoice } from './constraint.ts';
import { idlePropertiesOf } from './idle-schema.ts';
import * as scalars from './scalar.ts';
import { type Class, type Element, type Field, recordField, type Shape, type Shorthand } from './schema.ts';
import { mapEntriesMax, shapeProblemsOf } from './shape.ts';

export interface FieldOptions {
  /** Absent or null is a problem. */
  readonly required?: boolean;
  /** Value that an absent field stands for; shown, not stored. One of `defaults.ts`. */
  readonly default?: unknown;
  readonly example?: unknown;
  /** The default is stored and answered too (J10). */
  readonly emitted?: boolean;
  /** Present in answers, ignored in bodies. */
  readonly readOnly?: boolean;
}

export interface NestedOptions extends FieldOptions {
  /** Absent, the block is what `{}` is; for others its presence says something. */
  readonly absentIsEmpty?: boolean;
  /** The block counts only beside this value of that field; otherwise it is kept as it is, JSON types checked and nothing else. */
  readonly when?: { readonly [field: string]: string };
  /** With `when`: a rule of the class refuses its absence there. */
  readonly needed?: boolean;
}

export interface ListOptions extends FieldOptions {
  readonly lengthMin?: number;
  /** Most elements; no limit but the size of the body when Infinity. */
  readonly lengthMax?: number;
  /** Repeated elements collapse to the first. */
  readonly distinct?: boolean;
}

export interface MapOptions extends FieldOptions {
  /** Most entries. Default: 1,000. */
  readonly lengthMax?: number;
}

/** Most labels of a resource. */
export const labelsMax = 32;
/** Objects are dearer to check than scalars, expressions dearer than words. */
const listLengthMax = { object: 1000, scalar: 10_000 } as const;

const of =
  (scalar: scalars.Scalar) =>
  (description: string, options: FieldOptions = {}): PropertyDecorator =>
    field({ is: 'scalar', scalar }, scalar.schema, description, options);

export const Name = (): PropertyDecorator =>
  of(scalars.name)('Label of the resource, unique within its kind. Compared byte by byte.', {
    required: true,
    example: 'storefront',
  });

export const Id = (): PropertyDecorator =>
  of(scalars.id)('Identity of the resource. Assigned when absent on create.', {
    example: '9b2f6c1e-7f43-4c55-9f0e-0f2d6a1c8e57',
  });

export const Owner = (): PropertyDecorator =>
  of(scalars.name)(
    'Team or program that maintains the resource, compared byte by byte. An update without it keeps it; an update with ' +
      'another one hands the resource over.',
    { example: 'team-shop' },
  );

export const Labels = (): PropertyDecorator =>
  MapOf(
    scalars.textOrEmpty,
    'Marks to find resources by, at most 32. An update without them keeps them, `{}` removes them.',
    { lengthMax: labelsMax, example: { env: 'staging' } },
  );

export const Text = of(scalars.text);
export const Reference = of(scalars.reference);
export const SecretId = of(scalars.id);
export const BodyPath = of(scalars.bodyPath);
export const LogPath = of(scalars.logPath);
export const SectionName = of(scalars.sectionName);
export const Token = of(scalars.token);
export const Line = of(scalars.line);
export const AbsolutePath = of(scalars.absolutePath);
export const Location = of(scalars.location);
export const PathAndQuery = of(scalars.pathAndQuery);
export const PathLiteral = of(scalars.pathLiteral);
export const Substitution = of(scalars.substitution);
export const Target = of(scalars.target);
export const Duration = of(scalars.duration);
export const LimitPeriod = of(scalars.limitPeriod);
export const Regex = of(scalars.regex);
export const Host = of(scalars.host);
export const Authority = of(scalars.authority);
export const Pem = of(scalars.pem);
export const Htpasswd = of(scalars.htpasswd);
export const ApiKey = of(scalars.apiKey);
export const Username = of(scalars.username);
export const PasswordHashText = of(scalars.passwordHash);
export const Timestamp = of(scalars.timestamp);
export const Want = of(scalars.want);
export const WaitTimeout = of(scalars.waitTimeout);
export const Port = of(scalars.port);
export const Decimal = of(scalars.decimal);
export const Flag = of(scalars.flag);

export const Uint = (description: string, options: FieldOptions & scalars.Bounds = {}): PropertyDecorator =>
  of(scalars.uint(options))(description, options);

export const ByteSize = (description: string, options: FieldOptions & { readonly max: number }): PropertyDecorator =>
  of(scalars.byteSize(options.max))(description, options);

export const OneOf = (values: readonly string[], description: string, options?: FieldOptions): PropertyDecorator =>
  of(scalars.oneOf(values))(description, options);

export const OneOfNumbers = (
  values: readonly number[],
  description: string,
  options?: FieldOptions,
): PropertyDecorator => of(scalars.oneOfNumbers(values))(description, options);

export const Cel = (
  environment: 'request' | 'response' | 'claims',
  result: ResultKind,
  description: string,
  options?: FieldOptions,
): PropertyDecorator => of(scalars.cel(environment, result))(description, options);

/** An object of another class. */
export const Nested = (cls: Class, description: string, options: NestedOptions = {}): PropertyDecorator => {
  const [choice] = Object.entries(options.when ?? {});
  if (choice !== undefined) return chosen(cls, description, options, ...choice);
  const shown = { type: () => cls };
  const filled = options.absentIsEmpty === true ? { default: {} } : {};
  return all(field({ is: 'object', of: cls }, shown, description, options, filled), ValidateNested());
};

/** One of several blocks, which counts only where `by` is `value`. */
const chosen = (
  cls: Class,
  description: string,
  options: NestedOptions,
  by: string,
  value: string,
): PropertyDecorator => {
  const { needed = false } = options;
  const judged = { $ref: getSchemaPath(cls) };
  const schema = { type: Object, properties: idlePropertiesOf(cls) };
  return all(
    ValidateIf((owner: Readonly<Record<string, unknown>>) => owner[by] === value),
    field({ is: 'object', of: cls }, schema, description, options, { conditional: true }),
    ValidateNested(),
    known(cls),
    (target, name) => recordChoice(target.constructor, { by, value, block: String(name), judged, needed }),
  );
};

/** An object of another class, for which some texts may stand. It is stored and answered as the object. */
export const NestedOrText = (
  cls: Class,
  shorthand: Shorthand,
  description: string,
  options: FieldOptions = {},
): PropertyDecorator => {
  // Said by hand because swagger would add a reference to the class of the property.
  const schema = {
    type: Object,
    oneOf: [{ $ref: getSchemaPath(cls) }, { type: 'string', enum: [...shorthand.texts] }],
  };
  return all(
    field({ is: 'object', of: cls }, schema, description, options, { shorthand }),
    ValidateNested(),
    known(cls),
  );
};

/** A list of scalars or of objects of a class. */
export const ListOf = (
  of: scalars.Scalar | Class,
  description: string,
  options: ListOptions = {},
): PropertyDecorator => {
  const element = elementOf(of);
  const { lengthMin = 0, lengthMax = listLengthMax[element.is], distinct = false } = options;
  const bounded = Number.isFinite(lengthMax) ? { maxItems: lengthMax } : {};
  const schema = {
    type: 'array' as const,
    items: schemaOf(element),
    ...(lengthMin > 0 && { minItems: lengthMin }),
    ...bounded,
  };
  return all(
    field({ is: 'list', of: element, lengthMin, lengthMax, distinct }, schema, description, options),
    ...(element.is === 'object' ? [ValidateNested(), known(element.of)] : []),
  );
};

/** An object with keys of the caller's choice. */
export const MapOf = (of: scalars.Scalar | Class, description: string, options: MapOptions = {}): PropertyDecorator => {
  const element = elementOf(of);
  const { lengthMax = mapEntriesMax } = options;
  const schema = { type: Object, additionalProperties: schemaOf(element), maxProperties: lengthMax };
  return all(
    field({ is: 'map', of: element, lengthMax }, schema, description, options),
    ...(element.is === 'object' ? [known(element.of)] : []),
  );
};

type PropertySchema = Extract<ApiPropertyOptions, { required?: boolean }>;

const field =
  (
    shape: Shape,
    schema: PropertySchema,
    description: string,
    options: FieldOptions,
    traits: Pick<Field, 'shorthand' | 'conditional' | 'default'> = {},
  ): PropertyDecorator =>
  (target, name) => {
    const { required = false, readOnly = false, emitted = false, example } = options;
    const { default: fallback } = options;
    // Generators of clients know no default of an object, and leave out the whole schema then.
    const isShown = fallback !== undefined && (shape.is !== 'object' || typeof fallback === 'string');
    const shown = { ...(isShown && { default: fallback }), ...(example !== undefined && { example }) };
    const stored = emitted ? fallback : undefined;
    const known = { name: String(name), shape, required, readOnly, default: fallback, emitted: stored };
    recordField(target.constructor, { ...known, ...traits });
    all(
      ApiProperty({ ...schema, description, required, ...(readOnly && { readOnly }), ...shown }),
      required ? IsDefined() : IsOptional(),
      ValidateBy({ name: shape.is, validator: { validate: (value) => shapeProblemsOf(shape, value).length === 0 } }),
    )(target, name);
  };

const all =
  (...decorators: readonly PropertyDecorator[]): PropertyDecorator =>
  (target, name) => {
    for (const decorate of decorators) decorate(target, name);
  };

/** Puts a class into the OpenAPI document that no property names as its type. */
const known =
  (cls: Class): PropertyDecorator =>
  (target) =>
    ApiExtraModels(cls)(target.constructor);

const elementOf = (of: scalars.Scalar | Class): Element =>
  typeof of === 'function' ? { is: 'object', of } : { is: 'scalar', scalar: of };

const schemaOf = (element: Element) =>
  element.is === 'scalar' ? { ...element.scalar.schema } : { $ref: getSchemaPath(element.of) };
