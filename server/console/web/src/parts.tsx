// What the pages are made of.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { blob, type ResultFile } from "./api";
import { bytes, percent } from "./words";

export const said = signal<{ text: string; bad: boolean } | null>(null);
let saying = 0;
export function say(text: string, bad = false): void {
  said.value = { text, bad };
  clearTimeout(saying);
  saying = window.setTimeout(() => (said.value = null), bad ? 20000 : 6000);
}
// Does something that may fail, and says so.
export async function attempt<T>(what: () => Promise<T>, good = ""): Promise<T | undefined> {
  try {
    const value = await what();
    if (good) say(good);
    return value;
  } catch (error) {
    say((error as Error).message, true);
    return undefined;
  }
}

// Asks again every `seconds` while the page is looked at; 0: once.
export function usePolled<T>(load: () => Promise<T>, seconds: number, keys: unknown[]): [T | undefined, string, () => void] {
  const [value, setValue] = useState<T>();
  const [wrong, setWrong] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let gone = false;
    let timer = 0;
    const round = async () => {
      if (!document.hidden || seconds === 0) {
        try {
          const got = await load();
          if (gone) return;
          setValue(() => got);
          setWrong("");
        } catch (error) {
          if (!gone) setWrong((error as Error).message);
        }
      }
      if (!gone && seconds > 0) timer = window.setTimeout(round, seconds * 1000);
    };
    void round();
    return () => { gone = true; clearTimeout(timer); };
  }, [...keys, seconds, turn]);
  return [value, wrong, () => setTurn(turn + 1)];
}

// A page's heading: who comes to the page, by keys or by ear, begins there.
export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return <h1 ref={heading} tabIndex={-1}>{children}</h1>;
}

export const State = ({ of }: { of: string }) => <span class={`state ${of}`}>{of}</span>;

export const Bar = ({ part, label }: { part: number; label: string }) => (
  <span class="bar"><progress max={1} value={part} aria-label={label} /><span class="number">{percent(part)}</span></span>
);

export const Card = ({ title, children, wide, actions }: { title: string; children: ComponentChildren; wide?: boolean; actions?: ComponentChildren }) => (
  <section class={wide ? "card wide" : "card"} aria-label={title}><div class="head"><h2>{title}</h2>{actions}</div>{children}</section>
);

export const Figure = ({ name, value, note }: { name: string; value: string; note?: string }) => (
  <div><dt>{name}</dt><dd>{value}{note && <small>{note}</small>}</dd></div>
);

export interface Line { label: string; colour: string; values: (number | null)[]; area?: boolean; text: (value: number) => string }

// A curve over time; `at` in microseconds. Who cannot see it hears its last values.
export function Chart({ title, at, lines, top }: { title: string; at: number[]; lines: Line[]; top?: number }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [at.map(t => t / 1e6), ...lines.map(line => line.values)] as uPlot.AlignedData;
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
    const axis = { stroke: colour("--calm"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    plot.current = new uPlot({
      width: node.clientWidth, height: 160, cursor: { y: false }, legend: { show: lines.length > 1, live: true },
      scales: { y: { range: (_u, _low, high) => [0, top ?? Math.max(high * 1.1, 1)] } },
      axes: [axis, { ...axis, size: 56, values: (_u, ticks) => ticks.map(v => lines[0].text(v)) }],
      series: [{}, ...lines.map(line => ({
        label: line.label, stroke: colour(line.colour), width: 2, points: { show: false },
        fill: line.area ? colour(line.colour) + "33" : undefined,
        value: (_u: uPlot, v: number | null) => v === null ? "–" : line.text(v),
      }))],
    }, data, node);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: node.clientWidth, height: 160 }));
    watch.observe(node);
    return () => { watch.disconnect(); plot.current?.destroy(); };
  }, [lines.length, matchMedia("(prefers-color-scheme: dark)").matches]);
  useEffect(() => plot.current?.setData(data), [at.length, at[at.length - 1]]);
  const last = lines.map(line => `${line.label} ${at.length ? line.text(line.values[at.length - 1] ?? 0) : "not known yet"}`).join(", ");
  return <figure><figcaption>{title}</figcaption><div ref={place} role="img" aria-label={`${title}: now ${last}`} class="chart" /></figure>;
}

// A question before what cannot be undone.
export function Ask({ title, children, yes, onAnswer }: { title: string; children: ComponentChildren; yes: string; onAnswer: (sure: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => onAnswer(dialog.current?.returnValue === "yes")}>
      <form method="dialog">
        <h2 id="question">{title}</h2>
        {children}
        <div class="buttons"><button class="plain" value="no">Keep it</button><button class="danger" value="yes">{yes}</button></div>
      </form>
    </dialog>
  );
}

const shownMax = 32 << 20;

export function Files({ files }: { files: ResultFile[] }) {
  return (
    <ul class="files">
      {files.map(file => (
        <li key={file.digest + file.name}>
          <a href={`/v1/blobs/${file.digest}`} download={file.name}>{file.name}</a> <span class="calm">{bytes(file.bytes)}</span>
          {/^image\/(png|jpeg|gif|webp)$/.test(file.media_type) && file.bytes < shownMax && <Picture file={file} />}
        </li>
      ))}
    </ul>
  );
}

function Picture({ file }: { file: ResultFile }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    let made = "";
    let gone = false;
    blob(file).then(content => {
      if (gone) return;
      made = URL.createObjectURL(content);
      setAddress(made);
    }, () => undefined);
    return () => { gone = true; if (made) URL.revokeObjectURL(made); };
  }, [file.digest]);
  return address ? <img src={address} alt={file.name} /> : null;
}
