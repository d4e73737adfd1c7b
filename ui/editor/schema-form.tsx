// Form of a resource, generated from its schema. Values that no input fits are edited as JSON.
import { useId, useState } from 'preact/hooks';
import type { Json } from '../lib/types.ts';
import { Words } from '../parts/basics.tsx';
import { type Fault, isObject, withValue } from './json-values.ts';
import type { Schema } from './schema.ts';

interface FormProps {
  readonly schema: Schema;
  readonly resolve: (schema: Schema) => Schema;
  readonly value: Json | undefined;
  readonly faults: readonly Fault[];
  readonly onChange: (value: Json | undefined) => void;
  /** JSON pointer of the value. */
  readonly pointer: string;
}

/** Fields of a resource that stand above all others. */
const first = ['name', 'type', 'match', 'forward', 'redirect', 'directResponse', 'host', 'port', 'address', 'value'];
/** Assigned by the server, or part of the address of the resource. */
const hidden = new Set(['id']);

export function ObjectForm({ schema, resolve, value, faults, onChange, pointer }: FormProps) {
  const rank = (name: string): number => (pointer === '' && first.includes(name) ? first.indexOf(name) : first.length);
  const names = Object.keys(schema.properties ?? {}).filter((name) => pointer !== '' || !hidden.has(name));
  const own = isObject(value) ? value : {};
  return (
    <>
      {names
        .sort((a, b) => rank(a) - rank(b))
        .map((name) => {
          const inner = resolve(schema.properties?.[name] ?? {});
          return (
            <FieldForm
              key={name}
              name={name}
              isRequired={schema.required?.includes(name) === true}
              schema={inner}
              resolve={resolve}
              value={own[name]}
              faults={faults}
              pointer={`${pointer}/${name}`}
              onChange={(next) => onChange(withValue(own, [name], next))}
            />
          );
        })}
    </>
  );
}

interface FieldProps extends FormProps {
  readonly name: string;
  readonly isRequired: boolean;
}

function FieldForm(props: FieldProps) {
  const { schema } = props;
  if (schema.type === 'object' && schema.properties !== undefined) return <ObjectField {...props} />;
  if (schema.type === 'array' && !isTextList(schema, props)) return <ListField {...props} />;
  return <Input {...props} />;
}

const isTextList = (schema: Schema, { resolve }: FormProps): boolean =>
  schema.items === undefined || ['string', 'integer', 'number'].includes(resolve(schema.items).type ?? '');

function ObjectField(props: FieldProps) {
  const { name, value, schema, isRequired, onChange, faults, pointer } = props;
  const isThere = value !== undefined && value !== null;
  const isFaulty = faults.some((fault) => fault.pointer.startsWith(pointer));
  if (!isThere && !isRequired) {
    return (
      <div class="field optional">
        <button type="button" class="quiet" title={schema.description} onClick={() => onChange({})}>
          Add {name}
        </button>
        <FaultText {...props} id={undefined} />
      </div>
    );
  }
  return (
    <details open class={isFaulty ? 'faulty' : ''}>
      <summary>{name}</summary>
      {!isRequired && (
        <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => onChange(undefined)}>
          Remove
        </button>
      )}
      <FaultText {...props} id={undefined} />
      <fieldset>
        <legend class="hidden">{name}</legend>
        <ObjectForm {...props} />
      </fieldset>
    </details>
  );
}

function ListField(props: FieldProps) {
  const { name, value, schema, resolve, onChange, faults, pointer } = props;
  const list = Array.isArray(value) ? (value as readonly Json[]) : [];
  const item = resolve(schema.items ?? {});
  return (
    <fieldset class="list">
      <legend>{name}</legend>
      <FaultText {...props} id={undefined} />
      {list.map((each, at) => (
        <fieldset key={at} class="entry">
          <legend class="hidden">
            {name} {at + 1}
          </legend>
          <ObjectForm
            schema={item}
            resolve={resolve}
            value={each}
            faults={faults}
            pointer={`${pointer}/${at}`}
            onChange={(next) => onChange(withValue(list, [at], next))}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => onChange(withValue(list, [at], undefined))}
          >
            Remove
          </button>
        </fieldset>
      ))}
      <button type="button" class="quiet" onClick={() => onChange([...list, {}])}>
        Add to {name}
      </button>
    </fieldset>
  );
}

const textOf = (value: Json | undefined, schema: Schema): string => {
  if (value === undefined || value === null) return '';
  if (schema.type === 'array' && Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, undefined, 1) : String(value);
};

/** A text that is no number is refused by the API, which names the field. */
const numberOr = (text: string): Json => (Number.isNaN(Number(text)) ? text : Number(text));

/** Returns the value of a text; throws SyntaxError. */
function valueOfText(text: string, schema: Schema, item: Schema | undefined): Json | undefined {
  if (text === '') return undefined;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return numberOr(text);
    case 'string':
      return text;
    case 'array': {
      const lines = text.split('\n').filter((line) => line.trim() !== '');
      return item?.type === 'string' || item?.type === undefined ? lines : lines.map(numberOr);
    }
    default:
      return JSON.parse(text) as Json;
  }
}

/** Blank lines do not count: a click on what stands below would miss it when they go as the field is left. */
const rowsOf = (text: string): number => Math.min(8, text.split('\n').filter((line) => line.trim() !== '').length + 2);

/** Text as it was typed. */
interface Draft {
  readonly text: string;
  /** Value of the field with this text. The text is shown no more once the field has another one. */
  readonly value: Json | undefined;
  readonly problem?: string;
}

function Input(props: FieldProps) {
  const { name, value, schema, isRequired, onChange, faults, pointer } = props;
  const id = useId();
  const [typed, setTyped] = useState<Draft>();
  const isCurrent = typed !== undefined && JSON.stringify(typed.value) === JSON.stringify(value);
  const { text: draft, problem } = isCurrent ? typed : {};
  const isFaulty = problem !== undefined || faults.some((fault) => fault.pointer === pointer);
  const described = `${id}-about`;
  const common = {
    id,
    'aria-invalid': isFaulty ? ('true' as const) : undefined,
    'aria-describedby': described,
    required: isRequired,
  };
  const take = (text: string): void => {
    // Typed text stays as it is until the field is left: a value that is written anew would lose its last line break.
    try {
      const next = valueOfText(text, schema, schema.items && props.resolve(schema.items));
      setTyped({ text, value: next });
      onChange(next);
    } catch {
      setTyped({ text, value, problem: 'This is no JSON.' });
    }
  };
  const leave = (): void => {
    if (schema.type === 'array' && problem === undefined) setTyped(undefined);
  };
  const about = (
    <div id={described} class="about">
      <Words text={schema.description ?? ''} />
      {schema.default !== undefined && ` Default: ${JSON.stringify(schema.default)}.`}
      {problem !== undefined && <strong class="fault"> {problem}</strong>}
      {faults
        .filter((fault) => fault.pointer === pointer)
        .map(({ message }) => (
          <strong key={message} class="fault">
            {' '}
            {message}
          </strong>
        ))}
    </div>
  );
  const label = <label for={id}>{name}</label>;
  if (schema.type === 'boolean' || schema.enum !== undefined) {
    const choices = schema.enum ?? ['true', 'false'];
    return (
      <div class="field">
        {label}
        <select
          {...common}
          value={value === undefined ? '' : String(value)}
          onChange={(event) => {
            const text = event.currentTarget.value;
            onChange(schema.type === 'boolean' && text !== '' ? text === 'true' : valueOfText(text, schema, undefined));
          }}
        >
          <option value="">{schema.default === undefined ? '' : `default`}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
        {about}
      </div>
    );
  }
  const isLong = schema.type === 'array' || schema.type === 'object' || schema.type === undefined;
  const text = draft ?? textOf(value, schema);
  return (
    <div class="field">
      {label}
      {isLong ? (
        <textarea
          {...common}
          rows={rowsOf(text)}
          value={text}
          onInput={(event) => take(event.currentTarget.value)}
          onBlur={leave}
        />
      ) : (
        <input
          {...common}
          type="text"
          inputMode={schema.type === 'integer' ? 'numeric' : 'text'}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => take(event.currentTarget.value)}
          onBlur={leave}
        />
      )}
      {about}
    </div>
  );
}

function FaultText({
  faults,
  pointer,
  id,
}: Pick<FormProps, 'faults' | 'pointer'> & { readonly id: string | undefined }) {
  const own = faults.filter((fault) => fault.pointer === pointer);
  return own.length === 0 ? null : (
    <strong id={id} class="fault">
      {own.map(({ message }) => message).join('; ')}
    </strong>
  );
}
