// Line chart over time. The colours are those of the page; a description stands beside it for readers of the screen.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface Line {
  readonly label: string;
  /** Name of a colour of the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly dash?: readonly number[];
}

const height = 180;
/** Top of the axis of values at least. */
const leastTop = 1;
/** Seconds that the axis of time shows at least. */
const spanSeconds = 300;

const colourOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** @param times Unix seconds */
export function Chart({
  title,
  times,
  lines,
  unit,
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly unit: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shape = lines.map(({ label }) => label).join('\n');
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const lineOf = { stroke: colourOf('line'), width: 1 };
    const axis = { stroke: colourOf('quiet'), grid: lineOf, ticks: lineOf };
    const options: uPlot.Options = {
      width: Math.max(200, element.clientWidth),
      height,
      scales: {
        x: {
          // Without data it ends now.
          range: (_plot, from, to) => {
            const end = to || Date.now() / 1_000;
            return [Math.min(from || end, end - spanSeconds), end];
          },
        },
        // From nought, so that a change looks as large as it is.
        y: { range: (_plot, _from, to) => [0, Math.max(to ?? 0, leastTop) * 1.1] },
      },
      cursor: { drag: { x: false, y: false } },
      legend: { show: false },
      axes: [
        { ...axis, values: (_plot, ticks) => ticks.map((tick) => new Date(tick * 1_000).toISOString().slice(11, 16)) },
        { ...axis, size: 72, values: (_plot, ticks) => ticks.map((tick) => `${tick}${unit}`) },
      ],
      series: [
        {},
        ...lines.map(({ label, colour, dash }) => ({
          label,
          stroke: colourOf(colour),
          width: 2,
          points: { show: false },
          ...(dash && { dash: [...dash] }),
        })),
      ],
    };
    const made = new uPlot(options, dataOf(times, lines), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [shape, unit]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);
  const last = lines.map(({ label, values }) => `${label} ${numberText(values.at(-1))}${unit}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {lines.map(({ label, colour, dash }) => (
          <span key={label} class={`legend ${dash ? 'dashed' : ''} legend-${colour}`}>
            {label}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${last}`} />
    </figure>
  );
}

const numberText = (value: number | null | undefined): string =>
  value === null || value === undefined ? 'nothing' : String(Number(value.toPrecision(3)));

const dataOf = (times: readonly number[], lines: readonly Line[]): uPlot.AlignedData =>
  [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
