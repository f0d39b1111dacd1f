// What the pages are made of: the console's, and the donor's (donor/).
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { percent } from "./words";

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

// In place of what is not here yet, or could not be fetched.
export const Missing = ({ wrong }: { wrong: string }) => (wrong ? <p role="alert" class="bad">{wrong}</p> : <p aria-busy="true">Loading …</p>);

// A table that may be wider than the screen.
export const Table = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="scroll" tabIndex={0} role="group" aria-label={`${label}, a table that scrolls sideways`}><table>{children}</table></div>
);

// What was done, or went wrong.
export const Said = () => (
  <div role="status" class="said" id="said">
    {said.value && <p class={said.value.bad ? "bad" : ""}>{said.value.text}<button class="plain" aria-label="close" onClick={() => (said.value = null)}>×</button></p>}
  </div>
);

export const State = ({ of }: { of: string }) => <span class={`state ${of.replace(" ", "-")}`}>{of}</span>;

export const Bar = ({ part, label }: { part: number; label: string }) => (
  <span class="bar"><progress max={1} value={part} aria-label={label} /><span class="number">{percent(part)}</span></span>
);

export const Card = ({ title, children, wide, actions }: { title: string; children: ComponentChildren; wide?: boolean; actions?: ComponentChildren }) => (
  <section class={wide ? "card wide" : "card"} aria-label={title}><div class="head"><h2>{title}</h2>{actions}</div>{children}</section>
);

export const Figure = ({ name, value, note }: { name: string; value: string; note?: string }) => (
  <div><dt>{name}</dt><dd>{value}{note && <small>{note}</small>}</dd></div>
);

// A question before what cannot be undone: Enter keeps it; `eager`: it can, and Enter does it.
export function Ask({ title, children, yes, no = "Keep it", eager, onAnswer }: { title: string; children: ComponentChildren; yes: string; no?: string; eager?: boolean; onAnswer: (sure: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => onAnswer(dialog.current?.returnValue === "yes")}>
      <form method="dialog">
        <h2 id="question">{title}</h2>
        {children}
        <div class={eager ? "buttons eager" : "buttons"}>
          {eager && <button value="yes">{yes}</button>}<button class="plain" value="no">{no}</button>{!eager && <button class="danger" value="yes">{yes}</button>}
        </div>
      </form>
    </dialog>
  );
}
