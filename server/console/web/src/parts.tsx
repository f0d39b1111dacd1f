// What the pages are made of: the console's, and the donor's (donor/).
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { shared } from "./strings";
import { percent } from "./words";

// Is there as little room as on a phone?
const few = matchMedia("(max-width: 48rem)");
export const phone = signal(few.matches);
few.addEventListener("change", () => (phone.value = few.matches));

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

// Asks again every `seconds` while the page is looked at; 0: once. When `news` changes, or the page is looked at again, it asks at once, but
// no more than once a second, nor for more than a quarter of the time.
export function usePolled<T>(load: () => Promise<T>, seconds: number, keys: unknown[], news?: unknown): [T | undefined, string, () => void] {
  const [value, setValue] = useState<T>();
  const [wrong, setWrong] = useState("");
  const [turn, setTurn] = useState(0);
  const hurry = useRef(() => {}), heard = useRef(news);
  useEffect(() => {
    let gone = false, asking = false, again = false;
    let timer = 0, ready = 0;
    const round = async () => {
      again = false;
      if (!document.hidden || seconds === 0) {
        const begun = Date.now();
        asking = true;
        try {
          const got = await load();
          if (gone) return;
          setValue(() => got);
          setWrong("");
        } catch (error) {
          if (!gone) setWrong((error as Error).message);
        }
        asking = false;
        ready = begun + Math.max(1000, 4 * (Date.now() - begun));
      }
      if (gone) return;
      if (again) soon();
      else if (seconds > 0) timer = window.setTimeout(round, seconds * 1000);
    };
    const soon = () => { clearTimeout(timer); timer = window.setTimeout(round, Math.max(0, ready - Date.now())); };
    hurry.current = () => { if (asking) again = true; else soon(); };
    const seen = () => { if (!document.hidden && seconds > 0) hurry.current(); };
    document.addEventListener("visibilitychange", seen);
    void round();
    return () => { gone = true; clearTimeout(timer); document.removeEventListener("visibilitychange", seen); };
  }, [...keys, seconds, turn]);
  useEffect(() => {
    if (heard.current !== news) hurry.current();
    heard.current = news;
  }, [news]);
  return [value, wrong, () => setTurn(turn + 1)];
}

// A page's heading: who comes to the page, by keys or by ear, begins there.
export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return <h1 ref={heading} tabIndex={-1}>{children}</h1>;
}

// In place of what is not here yet, or could not be fetched.
export const Missing = ({ wrong }: { wrong: string }) => (wrong ? <p role="alert" class="bad">{wrong}</p> : <p aria-busy="true">{shared.loading}</p>);

// A text with elements in place of {name}; what stands in backticks is code.
export const rich = (text: string, parts: Record<string, ComponentChildren> = {}): ComponentChildren => text.split(/(\{\w+\}|`[^`]+`)/).map(each =>
  each.startsWith("{") ? parts[each.slice(1, -1)] : each.startsWith("`") ? <code>{rich(each.slice(1, -1), parts)}</code> : each);

// A table that may be wider than the screen. On a phone each row is a list, whose entries have the columns' names.
export function Table({ label, children }: { label: string; children: ComponentChildren }) {
  const place = useRef<HTMLTableElement>(null);
  useEffect(() => {
    const names = [...place.current!.querySelectorAll("thead th, thead td")].map(each => each.textContent ?? "");
    for (const row of place.current!.querySelectorAll("tbody tr")) [...row.children].forEach((cell, i) => ((cell as HTMLElement).dataset.name = names[i] ?? ""));
  });
  return <div class="scroll" tabIndex={0} role="group" aria-label={shared.scrolls(label)}><table ref={place}>{children}</table></div>;
}

// What was done, or went wrong.
export const Said = () => (
  <div role="status" class="said" id="said">
    {said.value && <p class={said.value.bad ? "bad" : ""}>{said.value.text}<button class="plain" aria-label={shared.close} onClick={() => (said.value = null)}>×</button></p>}
  </div>
);

// A state by its word and a sign, so that none depends on a colour.
const signs: Record<string, string> = {
  running: "M3 2l6 4-6 4z", active: "M3 2l6 4-6 4z", valid: "M2 6l3 3 5-6", finished: "M2 6l3 3 5-6", paused: "M4 2v8M8 2v8", "on hold": "M4 2v8M8 2v8",
  stopped: "M6 1v6M6 9v1.6", failed: "M3 3l6 6M9 3l-6 6", revoked: "M3 3l6 6M9 3l-6 6", cancelled: "M2 6h8", withdrawn: "M2 6h8", left: "M2 6h8", expired: "M2 6h8",
};
export const State = ({ of }: { of: string }) => (
  <span class={`state ${of.replace(" ", "-")}`}><svg viewBox="0 0 12 12" aria-hidden="true"><path d={signs[of] ?? "M6 2v4l3 2"} /></svg>{shared.states[of] ?? of}</span>
);

export const Bar = ({ part, label }: { part: number; label: string }) => (
  <span class="bar"><progress max={1} value={part} aria-label={label} /><span class="number">{percent(part)}</span></span>
);

export const Card = ({ title, children, wide, actions }: { title: string; children: ComponentChildren; wide?: boolean; actions?: ComponentChildren }) => (
  <section class={wide ? "card wide" : "card"} aria-label={title}><div class="head"><h2>{title}</h2>{actions}</div>{children}</section>
);

export const Figure = ({ name, value, note }: { name: string; value: string; note?: string }) => (
  <div><dt>{name}</dt><dd>{value}{note && <small>{note}</small>}</dd></div>
);

// A row of figures.
export const Strip = ({ children }: { children: ComponentChildren }) => <dl class="figures">{children}</dl>;

export const Crumbs = ({ to, name, here }: { to: string; name: string; here: string }) => <p class="crumbs"><a href={to}>{name}</a> / {here}</p>;

// One of a few, as buttons in a row.
export function Choice<T extends string | number>({ label, of, now, onChoose }: { label: string; of: [T, string][]; now: T | null; onChoose: (value: T) => void }) {
  return (
    <span class="picker" role="group" aria-label={label}>
      {of.map(([value, words]) => <button type="button" key={value} class="plain small" aria-pressed={now === value} onClick={() => onChoose(value)}>{words}</button>)}
    </span>
  );
}

// A form in front of the page. `onDone` says whether it may close.
export function FormDialog({ title, children, yes, onDone, onClose }: { title: string; children: ComponentChildren; yes: string; onDone: (form: FormData) => Promise<boolean>; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const good = await onDone(new FormData(event.target as HTMLFormElement));
    setBusy(false);
    if (good) dialog.current?.close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="form-title" onClose={onClose}>
      <form onSubmit={submit} class="fields">
        <h2 id="form-title">{title}</h2>
        {children}
        <div class="buttons end"><button type="button" class="plain" onClick={() => dialog.current?.close()}>{shared.back}</button><button disabled={busy}>{yes}</button></div>
      </form>
    </dialog>
  );
}

// A question before what cannot be undone: Enter keeps it; `eager`: it can, and Enter does it. The verb is always at the right, and the last.
export function Ask({ title, children, yes, no = shared.keep, eager, onAnswer }: { title: string; children: ComponentChildren; yes: string; no?: string; eager?: boolean; onAnswer: (sure: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => onAnswer(dialog.current?.returnValue === "yes")}>
      <form method="dialog">
        <h2 id="question">{title}</h2>
        {children}
        <div class="buttons end">
          <button class="plain" value="no" type={eager ? "button" : "submit"} onClick={() => dialog.current?.close("no")}>{no}</button><button class={eager ? "" : "danger"} value="yes">{yes}</button>
        </div>
      </form>
    </dialog>
  );
}
