// One field that finds problems, hosts, applications and errors. "/" leads there from anywhere.
import { useEffect, useRef, useState } from "preact/hooks";
import { idOf, list, type Application, type Problem } from "./api";
import { hostPage } from "./hostpages";
import { live } from "./live";
import { shared, t } from "./strings";
import { lastLine } from "./words";

interface Hit { kind: string; text: string; note: string; link: string }
const hitsMax = 6;

async function find(text: string): Promise<Hit[]> {
  const wanted = text.toLowerCase();
  const fits = (...words: string[]) => words.some(word => word.toLowerCase().includes(wanted));
  const hosts = hostPage(new URLSearchParams({ after: "0", text }));
  const [problems, applications] = await Promise.all([list<Problem>("/v1/admin/problems"), list<Application>("/v1/admin/applications")]);
  const hits = (found: Hit[]) => found.slice(0, hitsMax);
  return [
    ...hits(problems.filter(p => fits(p.name, p.application, `${p.id}`)).reverse().map(p => ({ kind: t.kinds.problem, text: p.name, note: `${shared.states[p.state] ?? p.state}, ${p.application}`, link: `#/problems/${p.id}` }))),
    ...hits((await hosts).hosts.map(h => ({ kind: t.kinds.host, text: h.name, note: shared.states[h.on_hold && h.state === "active" ? "on hold" : h.state], link: `#/hosts/${h.id}` }))),
    ...hits(applications.filter(a => fits(a.title, idOf(a))).map(a => ({ kind: t.kinds.application, text: a.title || a.name, note: idOf(a), link: "#/applications" }))),
    ...hits((live.value?.errors ?? []).filter(e => fits(e.message, e.words ?? "", e.kind)).map(e => ({ kind: t.kinds.error, text: e.words || lastLine(e.message) || e.kind, note: e.problem_name, link: `#/problems/${e.problem}` }))),
  ];
}

// `onWanted`: the field may be folded away, and is wanted.
export function Search({ onWanted }: { onWanted: () => void }) {
  const [text, setText] = useState("");
  const [hits, setHits] = useState<Hit[]>();
  const [wrong, setWrong] = useState("");
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((event.target as HTMLElement).closest("input, select, textarea, [contenteditable]")) return;
      event.preventDefault();
      onWanted();
      requestAnimationFrame(() => field.current?.focus());
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  useEffect(() => {
    setHits(undefined);
    setWrong("");
    const wanted = text.trim();
    if (!wanted) return;
    let gone = false;
    const timer = window.setTimeout(() => {
      find(wanted).then(found => { if (!gone) { setHits(found); setChosen(0); } }, (error: Error) => { if (!gone) setWrong(error.message); });
    }, 150);
    return () => { gone = true; clearTimeout(timer); };
  }, [text]);
  const close = () => { setText(""); field.current?.blur(); };
  const go = (hit: Hit) => { location.hash = hit.link; close(); };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") return close();
    if (!hits?.length) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      setChosen((chosen + (event.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length);
    } else if (event.key === "Enter") {
      go(hits[chosen]);
    }
  };
  return (
    <div class="search" role="search">
      <input ref={field} type="text" role="combobox" aria-label={t.searchLabel} aria-expanded={hits !== undefined}
        aria-controls="hits" aria-activedescendant={hits?.length ? `hit-${chosen}` : undefined} placeholder={t.search} value={text}
        onInput={event => setText(event.currentTarget.value)} onKeyDown={onKey} autocomplete="off" />
      <kbd aria-hidden="true">/</kbd>
      {(hits || wrong) && (
        <ul id="hits" role="listbox" aria-label={t.found}>
          {wrong && <li class="bad" role="option" aria-selected="false">{wrong}</li>}
          {hits?.length === 0 && <li class="calm" role="option" aria-selected="false">{t.nothingFound}</li>}
          {hits?.map((hit, i) => (
            <li key={hit.link + hit.text} id={`hit-${i}`} role="option" aria-selected={i === chosen} onMouseDown={event => { event.preventDefault(); go(hit); }}>
              <small>{hit.kind}</small> {hit.text} <span class="calm">{hit.note}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
