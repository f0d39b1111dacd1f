// The items of a stage as cells, coloured by what became of them and who has them.
import { useEffect, useRef } from "preact/hooks";
import type { ItemMap } from "./api";
import { count, plural } from "./words";

const hue = (host: number): number => Math.round((host * 137.508) % 360);
const accepted = "#2f9e5b", aside = "#d64545";

function draw(canvas: HTMLCanvasElement, map: ItemMap): void {
  const width = canvas.clientWidth, cells = map.accepted.length;
  const scale = window.devicePixelRatio || 1;
  const side = Math.max(4, Math.min(22, Math.floor(Math.sqrt((width * 220) / Math.max(1, cells)))));
  const columns = Math.max(1, Math.floor(width / side));
  const height = Math.ceil(cells / columns) * side;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d")!;
  const ground = getComputedStyle(canvas).getPropertyValue("--cell");
  pen.scale(scale, scale);
  for (let i = 0; i < cells; ++i) {
    const x = (i % columns) * side, y = Math.floor(i / columns) * side, size = side - 1;
    pen.fillStyle = ground;
    pen.fillRect(x, y, size, size);
    let from = 0;  // from the bottom up: accepted, held, set aside
    const stack = (share: number, colour: string) => {
      if (share <= 0) return;
      const part = Math.max(1, Math.round((size * share) / 100));
      pen.fillStyle = colour;
      pen.fillRect(x, Math.max(y, y + size - from - part), size, Math.min(part, size - from));
      from = Math.min(size, from + part);
    };
    stack(map.accepted[i], accepted);
    stack(map.held[i], `hsl(${hue(map.holders[i])} 65% 55%)`);
    stack(map.set_aside[i], aside);
  }
}

export function ItemMapView({ map, names }: { map: ItemMap; names: Map<number, string> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const node = canvas.current;
    if (!node) return;
    draw(node, map);
    const watch = new ResizeObserver(() => draw(node, map));
    watch.observe(node.parentElement!);
    return () => watch.disconnect();
  }, [map]);
  const mean = (list: number[]) => list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length);
  const holders = [...new Set(map.holders.filter(host => host > 0))];
  const words = `${count(map.items)} items: about ${Math.round(mean(map.accepted))} % accepted, ${Math.round(mean(map.held))} % being computed, ` +
    `${Math.round(mean(map.set_aside))} % quarantined`;
  return (
    <div>
      <canvas ref={canvas} class="map" role="img" aria-label={words} data-cells={map.accepted.length} />
      <ul class="legend">
        <li><span class="key accepted" />accepted</li>
        {holders.slice(0, 12).map(host => <li key={host}><HostKey host={host} />{names.get(host) ?? `host ${host}`}</li>)}
        {holders.length > 12 && <li>and {plural(holders.length - 12, "more host")}</li>}
        {map.set_aside.some(each => each > 0) && <li><span class="key aside" />quarantined</li>}
        <li><span class="key free" />free</li>
        <li class="calm">{map.items_per_cell === 1 ? "a cell is one item" : `a cell is ${plural(map.items_per_cell, "item")}`}</li>
      </ul>
    </div>
  );
}

function HostKey({ host }: { host: number }) {
  const key = useRef<HTMLSpanElement>(null);
  useEffect(() => { if (key.current) key.current.style.background = `hsl(${hue(host)} 65% 55%)`; }, [host]);
  return <span ref={key} class="key" />;
}
