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
    const axis = { stroke: colourOf('text'), grid: { stroke: colourOf('line') }, ticks: { stroke: colourOf('line') } };
    const options: uPlot.Options = {
      width: Math.max(200, element.clientWidth),
      height,
      scales: { x: { range: (_plot, from, to) => [Math.min(from, to - spanSeconds), to] } },
      cursor: { drag: { x: false, y: false } },
      legend: { show: false },
      axes: [axis, { ...axis, size: 64, values: (_plot, ticks) => ticks.map((tick) => `${tick}${unit}`) }],
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
  const last = lines.map(({ label, values }) => `${label} ${values.at(-1) ?? 'nothing'}${unit}`).join(', ');
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

const dataOf = (times: readonly number[], lines: readonly Line[]): uPlot.AlignedData =>
  [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
