// Filters above a table: a text to search for, a choice among values.
import { Field } from './basics.tsx';

export function Search({
  label,
  value,
  onSearch,
}: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          id={id}
          type="search"
          autocomplete="off"
          value={value}
          onInput={(event) => onSearch(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Choice<T extends string>({
  label,
  value,
  choices,
  onChoose,
}: {
  readonly label: string;
  readonly value: T | '';
  readonly choices: readonly T[];
  readonly onChoose: (value: T | '') => void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value as T | '')}>
          <option value="">All</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
