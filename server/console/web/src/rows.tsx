// A table of any length: only the rows in view are in the page. Sorted by any column that says how, by its heading; the order
// stands in the address.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { phone } from "./parts";
import { query, show } from "./route";
import { language, t } from "./strings";

export interface Column<T> {
  id: string;  // in the address
  name: string;
  width: string;  // of a grid: "2fr", "5rem"
  cell: (row: T) => ComponentChildren;
  order?: (row: T) => number | string;  // absent: the table is not sorted by it here
  sorted?: boolean;  // by the one who has the rows
  number?: boolean;
  hint?: string;
}

const margin = 10;
// Taller than this no browser makes a page's element (Firefox 17.9 million pixels): then each pixel of scrolling stands for more than one.
const tallest = 15e6;
const compare = (a: number | string, b: number | string): number => typeof a === "number" && typeof b === "number" ? a - b : `${a}`.localeCompare(`${b}`, language, { numeric: true });

// `brief`: a row as a phone shows it, in two lines. `sortIn`: where the order stands in the address. `onEnd`: the last rows are in view. `onShown`: these are, the last one excluded.
export function Rows<T>({ label, columns, rows, id, brief, first = "", sortIn = "sort", onEnd, onShown }: {
  label: string; columns: Column<T>[]; rows: T[]; id: (row: T) => number | string; brief: (row: T) => ComponentChildren; first?: string; sortIn?: string; onEnd?: () => void;
  onShown?: (from: number, to: number) => void;
}) {
  const small = phone.value, rowHeight = small ? 64 : 38;
  const sort = query(sortIn, first);
  const down = sort.startsWith("-"), by = columns.find(column => column.id === sort.replace(/^-/, ""));
  const ordered = useMemo(() => {
    const order = by?.order;
    return order ? [...rows].sort((a, b) => (down ? -1 : 1) * compare(order(a), order(b))) : rows;
  }, [rows, sort]);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(560);
  const place = useRef<HTMLDivElement>(null), body = useRef<HTMLDivElement>(null), whole = useRef<HTMLDivElement>(null);
  const all = ordered.length * rowHeight, tall = Math.min(all, tallest);
  // How far the rows are from where they would be if each pixel stood for one.
  const ahead = tall < all && tall > height ? (Math.min(top, tall - height) / (tall - height)) * (all - tall) : 0;
  const from = Math.max(0, Math.floor((top + ahead) / rowHeight) - margin);
  const shown = ordered.slice(from, from + Math.ceil(height / rowHeight) + 2 * margin);
  useEffect(() => {
    const node = place.current!;
    const watch = new ResizeObserver(() => setHeight(node.clientHeight));
    watch.observe(node);
    return () => watch.disconnect();
  }, []);
  // Both before the page is painted: nothing moves afterwards.
  useLayoutEffect(() => {
    whole.current?.style.setProperty("--columns", columns.map(column => column.width).join(" "));
    whole.current?.style.setProperty("--least", `${7 * columns.length}rem`);
  }, [columns]);
  useLayoutEffect(() => {
    if (!body.current) return;
    body.current.style.height = `${tall}px`;
    body.current.style.paddingTop = `${Math.max(0, from * rowHeight - ahead)}px`;
  }, [from, ahead, tall]);
  useEffect(() => onShown?.(from, from + shown.length), [from, shown.length, rows]);
  useEffect(() => { if (onEnd && from + shown.length >= ordered.length - 50) onEnd(); }, [from, ordered.length]);
  useEffect(() => { if (place.current) place.current.scrollTop = 0; }, [sort]);
  const can = (column: Column<T>) => column.order !== undefined || column.sorted === true;
  // First the way that tells most, then the other one.
  const turn = (column: Column<T>) => show({ [sortIn]: column === by ? (down ? column.id : `-${column.id}`) : column.number ? `-${column.id}` : column.id });
  const kind = (column: Column<T>) => (column.number ? "n" : undefined);
  const orders = columns.filter(can).flatMap(({ id, name }) => [[id, name], [`-${id}`, t.descending(name)]]);
  return (
    <>
    {small && (
      <label class="sort">{t.sortBy} <select value={sort} onChange={event => show({ [sortIn]: event.currentTarget.value })}>
        {!first && <option value="">{t.unsorted}</option>}{orders.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
      </select></label>
    )}
    <div ref={whole} class={small ? "virtual small" : "virtual"} role="table" aria-label={label} aria-rowcount={ordered.length + 1}>
      <div ref={place} class="window" role="presentation" onScroll={event => setTop(event.currentTarget.scrollTop)}>
        {!small && <div role="rowgroup" class="headings-group"><div role="row" class="row headings" aria-rowindex={1}>
          {columns.map(column => (
            <span role={column.name ? "columnheader" : "cell"} key={column.id} class={kind(column)} title={column.hint} aria-sort={column === by ? (down ? "descending" : "ascending") : undefined}>
              {can(column) ? <button type="button" class="heading" onClick={() => turn(column)}>{column.name}<i aria-hidden="true">{column === by ? (down ? " ↓" : " ↑") : ""}</i></button> : column.name}
            </span>
          ))}
        </div></div>}
        <div ref={body} role="rowgroup" class="rows">
          {shown.map((row, i) => (
            <div role="row" class="row" key={id(row)} aria-rowindex={from + i + 2}>
              {small ? <span role="cell" class="brief">{brief(row)}</span> : columns.map(column => <span role="cell" key={column.id} class={kind(column)}>{column.cell(row)}</span>)}
            </div>
          ))}
        </div>
      </div>
    </div>
    </>
  );
}
