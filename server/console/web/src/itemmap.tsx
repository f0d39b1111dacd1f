// The items of a stage as cells, coloured by what became of them and who has them.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ItemMap } from "./api";
import { accepted, hosts, others, quarantined } from "./palette";
import { t } from "./strings";
import { count, plural } from "./words";

// The hosts with the most cells have a colour each, and keep it while they have any; the rest share one.
function coloured(map: ItemMap, before: Map<number, number>): Map<number, number> {
  const cells = new Map<number, number>();
  for (const host of map.holders) if (host > 0) cells.set(host, (cells.get(host) ?? 0) + 1);
  const most = [...cells.keys()].sort((a, b) => cells.get(b)! - cells.get(a)!).slice(0, hosts.length);
  const kept = new Map([...before].filter(([host]) => cells.has(host)));
  const free = hosts.map((_, i) => i).filter(i => ![...kept.values()].includes(i));
  for (const host of most) if (!kept.has(host) && free.length > 0) kept.set(host, free.shift()!);
  return kept;
}

function draw(canvas: HTMLCanvasElement, map: ItemMap, colours: Map<number, number>, tall: number): void {
  const width = canvas.clientWidth, cells = map.accepted.length;
  const scale = window.devicePixelRatio || 1;
  const about = Math.max(4, Math.min(22, Math.floor(Math.sqrt((width * tall) / Math.max(1, cells)))));
  const columns = Math.max(1, Math.floor(width / about));
  const side = width / columns;  // the last column ends where the map does
  const height = Math.ceil(Math.ceil(cells / columns) * side);
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  const ground = style.getPropertyValue("--cell"), card = style.getPropertyValue("--card");
  const size = Math.floor(side) - 1;
  pen.scale(scale, scale);
  for (let i = 0; i < cells; ++i) {
    const column = i % columns, row = Math.floor(i / columns);
    const x = Math.round(column * side), y = Math.round(row * side);
    pen.fillStyle = ground;
    pen.fillRect(x, y, size, size);
    let from = 0;  // from the bottom up: accepted, held, quarantined
    const stack = (share: number, colour: string) => {
      if (share <= 0) return;
      const part = Math.max(1, Math.round((size * share) / 100));
      pen.fillStyle = colour;
      pen.fillRect(x, Math.max(y, y + size - from - part), size, Math.min(part, size - from));
      from = Math.min(size, from + part);
    };
    stack(map.accepted[i], accepted);
    stack(map.held[i], hosts[colours.get(map.holders[i]) ?? -1] ?? others);
    stack(map.set_aside[i], quarantined);
    if (map.set_aside[i] > 0) {
      pen.strokeStyle = card;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + size, y + size);
      pen.moveTo(x + size, y);
      pen.lineTo(x, y + size);
      pen.stroke();
    }
  }
}

// `tall`: about how high it becomes, in pixels.
export function ItemMapView({ map, names, tall = 220 }: { map: ItemMap; names: Map<number, string>; tall?: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = useRef(new Map<number, number>());
  colours.current = coloured(map, colours.current);
  useLayoutEffect(() => {  // before the page is painted: the map has its height then
    const node = canvas.current;
    if (!node) return;
    draw(node, map, colours.current, tall);
    const watch = new ResizeObserver(() => draw(node, map, colours.current, tall));
    watch.observe(node.parentElement!);
    return () => watch.disconnect();
  }, [map, tall]);
  const mean = (list: number[]) => list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length);
  const holders = new Set(map.holders.filter(host => host > 0)).size;
  const shown = [...colours.current].sort((a, b) => a[1] - b[1]);
  const words = t.mapLabel(count(map.items), Math.round(mean(map.accepted)), Math.round(mean(map.held)), Math.round(mean(map.set_aside)));
  return (
    <div>
      <canvas ref={canvas} class="map" role="img" aria-label={words} data-cells={map.accepted.length} />
      <ul class="legend">
        <li><Key colour={accepted} />{t.accepted}</li>
        {shown.map(([host, colour]) => <li key={host}><Key colour={hosts[colour]} />{names.get(host) ?? t.hostNumber(host)}</li>)}
        {holders > shown.length && <li><Key colour={others} />{plural(holders - shown.length, t.moreHosts)}</li>}
        {map.set_aside.some(each => each > 0) && <li><Key colour={quarantined} crossed />{t.quarantined}</li>}
        <li><span class="key free" />{t.free}</li>
        <li class="calm">{plural(map.items_per_cell, t.cellIs)}</li>
      </ul>
    </div>
  );
}

function Key({ colour, crossed }: { colour: string; crossed?: boolean }) {
  return <svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill={colour} />{crossed && <path class="cross" d="M0 0l10 10M10 0L0 10" />}</svg>;
}
