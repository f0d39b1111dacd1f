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

export interface Line { label: string; colour: string; values: (number | null)[]; area?: boolean; text: (value: number) => string }

// A curve over time; `at` in microseconds. Who cannot see it hears its last values. `band`: between the second line and
// the third is filled.
export function Chart({ title, at, lines, top, band }: { title: string; at: number[]; lines: Line[]; top?: number; band?: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const Plot = library.value;
  const data = [at.map(t => t / 1e6), ...lines.map(line => line.values)] as uPlot.AlignedData;
  useEffect(() => {
    const node = place.current;
    if (!Plot) fetchLibrary();
    if (!node || !Plot) return;
    const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
    const axis = { stroke: colour("--calm"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    plot.current = new Plot({
      width: node.clientWidth, height: 160, cursor: { y: false }, legend: { show: lines.length > 1 && !band, live: true },
      ...(band ? { bands: [{ series: [3, 2] as [number, number], fill: colour(lines[0].colour) + "33" }] } : {}),
      scales: { y: { range: (_u, _low, high) => [0, top ?? Math.max(high * 1.1, 1)] } },
      axes: [axis, { ...axis, size: band ? 84 : 56, values: (_u, ticks) => ticks.map(v => lines[0].text(v)) }],
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
  useEffect(() => plot.current?.setData(data), [at.length, at[at.length - 1]]);
  const last = lines.map(line => `${line.label} ${at.length ? line.text(line.values[at.length - 1] ?? 0) : "not known yet"}`).join(", ");
  return <figure><figcaption>{title}</figcaption><div ref={place} role="img" aria-label={`${title}: now ${last}`} class="chart" /></figure>;
}
