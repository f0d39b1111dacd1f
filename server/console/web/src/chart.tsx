// Curves over time. What draws them is most of the page's code, and is fetched when the first is to be drawn.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { say } from "./parts";
import { locale, shared, t } from "./strings";
import { duration, percent, span } from "./words";

const library = signal<typeof uPlot | null>(null);
let fetching = false;
function fetchLibrary(): void {
  if (fetching) return;
  fetching = true;
  import("uplot").then(found => (library.value = found.default), () => {
    fetching = false;
    say(t.curvesNotFetched, true);
  });
}

// Seconds since 1970, as everything else tells the time of day; with the day where more than one is shown.
const clock = (at: number, seconds: boolean): string => new Date(at * 1000).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) });
const day = (at: number): string => new Date(at * 1000).toLocaleDateString(locale, { day: "numeric", month: "short" });
const ticks = (marks: number[]): string[] => marks.length > 1 && marks[1] - marks[0] >= 86400 ? marks.map(day)
  : marks.map((at, i) => (i > 0 && day(at) !== day(marks[i - 1]) ? day(at) : clock(at, marks.some(mark => mark % 60 !== 0))));

// Of an axis of times of day, and of one of durations, in seconds.
const moments = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 345600, 604800, 1209600, 2419200, 7257600, 31536000];
const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 31536000];

export interface Line { label: string; colour: string; values: (number | null)[]; area?: boolean; text: (value: number) => string }

// Charts of one group have one time range, in microseconds, and one cursor. `zoom`: to a range that was drawn with the mouse.
export interface Share { from: number; to: number; group: string; zoom?: (from: number, to: number) => void }

// A curve over time; `at` in microseconds. `band`: the lines are durations, and the area between the second and the third is filled. `now`: the text without a
// cursor, otherwise the last values. `clockless`: the times stand under another chart of the group. Arrow keys move the cursor of a chart that has the focus: to
// people who do not see it, it is a slider, whose value is read to them.
export function Chart({ title, at, lines, top, band, share, now, height = 130, clockless }: {
  title: string; at: number[]; lines: Line[]; top?: number; band?: boolean; share?: Share; now?: string; height?: number; clockless?: boolean;
}) {
  const place = useRef<HTMLDivElement>(null), told = useRef<HTMLOutputElement>(null);
  const plot = useRef<uPlot | null>(null);
  const range = useRef(share);
  range.current = share;
  const Plot = library.value;
  const data = [at.map(t => t / 1e6), ...lines.map(line => line.values)] as uPlot.AlignedData;
  const text = (i: number): string => {
    const of = (line: Line) => (line.values[i] == null ? "–" : line.text(line.values[i]!));
    if (band) return lines[0].values[i] == null ? "–" : span(lines[1].values[i] ?? 0, lines[2].values[i] ?? 0);
    return lines.map(of).join(", ");
  };
  const keyed = useRef<number | null>(null);  // the moment that keys have chosen
  const words = (i: number) => lines.map(line => `${line.label} ${line.values[i] == null ? "–" : line.text(line.values[i]!)}`).join(", ");
  const last = now ?? (at.length ? text(at.length - 1) : shared.unknown);
  const say_at = useRef((_i: number | null | undefined) => {});
  say_at.current = i => {
    if (told.current) told.current.textContent = i == null ? last : `${clock(at[i] / 1e6, true)}  ${text(i)}`;
    place.current?.setAttribute("aria-valuenow", `${i ?? at.length - 1}`);
    place.current?.setAttribute("aria-valuetext", i == null ? t.chartNow(now ?? (at.length ? words(at.length - 1) : last)) : `${clock(at[i] / 1e6, true)}: ${words(i)}`);
  };
  const point = (moment: number | null) => {
    if (keyed.current !== null || moment !== null) plot.current?.setCursor({ left: moment === null ? -10 : plot.current.valToPos(moment / 1e6, "x"), top: 0 });
    keyed.current = moment;
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -at.length, End: at.length, Escape: 0 }[event.key];
    if (step === undefined || at.length === 0) return;
    event.preventDefault();
    point(step === 0 ? null : at[Math.max(0, Math.min(at.length - 1, (plot.current?.cursor.idx ?? at.length) + step))]);
  };
  useEffect(() => {
    const node = place.current;
    if (!Plot) fetchLibrary();
    if (!node || !Plot) return;
    const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
    const axis = { stroke: colour("--calm"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    plot.current = new Plot({
      width: node.clientWidth, height, legend: { show: false }, padding: [8, 22, clockless ? 4 : 0, 0],
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, ...(share ? { sync: { key: share.group, setSeries: false } } : {}) },
      ...(band ? { bands: [{ series: [3, 2] as [number, number], fill: colour(lines[0].colour) + "33" }] } : {}),
      scales: { x: { range: (_u, low, high) => (range.current ? [range.current.from / 1e6, range.current.to / 1e6] : [low, high]) }, y: { range: (_u, _low, high) => [0, top ?? Math.max(high * 1.1, 1)] } },
      axes: [{ ...axis, size: clockless ? 0 : 24, space: 76, incrs: moments, values: (_u, marks) => (clockless ? marks.map(() => "") : ticks(marks)) }, { ...axis, size: 66, space: 28, ...(lines[0].text === duration ? { incrs: steps } : {}), values: (_u, marks) => marks.map(v => (lines[0].text === percent ? `${Math.round(100 * v)} %` : lines[0].text(v).replace(/ 0 (min|h)$/, ""))) }],
      series: [{}, ...lines.map((line, i) => ({
        label: line.label, stroke: colour(line.colour), width: band && i > 0 ? 0.5 : 2, points: { show: at.length < 4 }, dash: !band && i > 0 ? [6, 4] : undefined,
        fill: line.area ? colour(line.colour) + "2a" : undefined,
      }))],
      hooks: {
        setCursor: [u => say_at.current(u.cursor.idx)],
        setSelect: [u => {
          if (u.select.width < 5) return;
          const zoom = range.current?.zoom, [from, to] = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          zoom?.(from * 1e6, to * 1e6);
        }],
      },
    }, data, node);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: node.clientWidth, height }));
    watch.observe(node);
    return () => { watch.disconnect(); plot.current?.destroy(); };
  }, [Plot, lines.length, matchMedia("(prefers-color-scheme: dark)").matches, height, clockless]);
  // Before the page is painted: nothing on it tells of another moment.
  useLayoutEffect(() => {
    plot.current?.setData(data);
    if (keyed.current !== null) point(at.includes(keyed.current) ? keyed.current : null);
  }, [at.length, at[at.length - 1], at[0], share?.from, share?.to]);
  useLayoutEffect(() => say_at.current(plot.current?.cursor.idx), [last, at.length]);
  return (
    <figure>
      <figcaption>{lines.length > 1 && !band ? lines.map((line, i) => <span key={line.label}><i class={`line ${line.colour.slice(2)}${i > 0 ? " dashed" : ""}`} />{line.label}</span>) : <span>{title}</span>}<output ref={told} aria-live="off">{last}</output></figcaption>
      <div ref={place} role="slider" tabIndex={0} aria-label={title} aria-readonly="true" aria-valuemin={0} aria-valuemax={Math.max(0, at.length - 1)} onKeyDown={onKey} onBlur={() => point(null)} class={`chart h${height}`} />
    </figure>
  );
}
