// Table of any number of rows, of which only those in sight are in the document.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

const rowHeight = 36;

export interface Column<T> {
  readonly title: string;
  /** Share of the width. */
  readonly width: number;
  readonly cell: (row: T) => ComponentChildren;
  /** Left out on narrow screens. */
  readonly isExtra?: boolean;
}

export function VirtualTable<T>({
  name,
  columns,
  rows,
  keyOf,
  onRange,
  onOpen,
}: {
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Told which rows are in sight. */
  readonly onRange?: (rows: readonly T[]) => void;
  readonly onOpen?: (row: T) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, render] = useReducer((count: number) => count + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(0),
    getItemKey: (at) => {
      const row = rows[at];
      return row === undefined ? at : keyOf(row);
    },
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(rows.slice(first, last + 1)), [rows, first, last, onRange]);
  const template = {
    gridTemplateColumns: tracksOf(columns),
    '--narrow': tracksOf(columns.filter(({ isExtra }) => isExtra !== true)),
  };
  const className = ({ isExtra }: Column<T>): string => (isExtra === true ? 'extra' : '');
  return (
    <div class="virtual" role="table" aria-label={name} aria-rowcount={rows.length}>
      <div role="rowgroup">
        <div role="row" class="virtual-head" style={template}>
          {columns.map((column) => (
            <span key={column.title} role="columnheader" class={className(column)}>
              {column.title}
            </span>
          ))}
        </div>
      </div>
      <div ref={scroller} class="virtual-body" role="rowgroup" tabIndex={0} aria-label={`${name}, rows`}>
        <div role="presentation" style={{ height: `${virtualizer.getTotalSize()}px`, position: 'relative' }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 1}
                class="virtual-row"
                style={{ ...template, transform: `translateY(${item.start}px)` }}
                onDblClick={() => onOpen?.(row)}
              >
                {columns.map((column) => (
                  <span key={column.title} role="cell" class={className(column)}>
                    {column.cell(row)}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const tracksOf = <T,>(columns: readonly Column<T>[]): string =>
  columns.map(({ width }) => `minmax(0, ${width}fr)`).join(' ');
