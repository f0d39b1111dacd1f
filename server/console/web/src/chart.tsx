// Curves over time. What draws them is most of the page's code, and is fetched when the first is to be drawn.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { say } from "./parts";

const library = signal<typeof uPlot | null>(null);
let fetching = false;
function fetchLibrary(): void {
  if (fetching) return;
  fetching = true;
  import("uplot").then(found => (library.value = found.default), () => {
    fetching = false;
    say("The curves could not be fetched.", true);
  });
}

// Seconds since 1970, as everything else tells the time of day.
const clock = (at: number): string => new Date(at * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...(at % 60 ? { second: "2-digit" } : {}) });

export interface Line { label: string; colour: string; values: (number | null)[]; area?: boolean; text: (value: number) => string }

// A curve over time; `at` in microseconds. Its label says the last values. `band`: between the second line and
// the third is filled.
// `share`: charts of one group have one time range and one cursor.
export interface Share { from: number; to: number; group: string }
export function Chart({ title, at, lines, top, band, share }: { title: string; at: number[]; lines: Line[]; top?: number; band?: boolean; share?: Share }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const range = useRef(share);
  range.current = share;
  const Plot = library.value;
  const data = [at.map(t => t / 1e6), ...lines.map(line => line.values)] as uPlot.AlignedData;
  useEffect(() => {
    const node = place.current;
    if (!Plot) fetchLibrary();
    if (!node || !Plot) return;
    const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
    const axis = { stroke: colour("--calm"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    plot.current = new Plot({
      width: node.clientWidth, height: 160, cursor: { y: false, ...(share ? { sync: { key: share.group, setSeries: false } } : {}) }, legend: { show: lines.length > 1 && !band, live: true },
      ...(band ? { bands: [{ series: [3, 2] as [number, number], fill: colour(lines[0].colour) + "33" }] } : {}),
      scales: { x: { range: (_u, low, high) => (range.current ? [range.current.from / 1e6, range.current.to / 1e6] : [low, high]) }, y: { range: (_u, _low, high) => [0, top ?? Math.max(high * 1.1, 1)] } },
      axes: [{ ...axis, values: (_u, ticks) => ticks.map(clock) }, { ...axis, size: band ? 84 : 56, values: (_u, ticks) => ticks.map(v => lines[0].text(v)) }],
      series: [{}, ...lines.map((line, i) => ({
        label: line.label, stroke: colour(line.colour), width: band && i > 0 ? 0.5 : 2, points: { show: false },
        fill: line.area ? colour(line.colour) + "33" : undefined,
        value: (_u: uPlot, v: number | null) => v === null ? "–" : line.text(v),
      }))],
    }, data, node);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: node.clientWidth, height: 160 }));
    watch.observe(node);
    return () => { watch.disconnect(); plot.current?.destroy(); };
  }, [Plot, lines.length, matchMedia("(prefers-color-scheme: dark)").matches]);
  useEffect(() => plot.current?.setData(data), [at.length, at[at.length - 1], at[0], share?.from, share?.to]);
  const last = lines.map(line => `${line.label} ${at.length ? line.text(line.values[at.length - 1] ?? 0) : "not known yet"}`).join(", ");
  return <figure><figcaption>{title}</figcaption><div ref={place} role="img" aria-label={`${title}: now ${last}`} class="chart" /></figure>;
}
