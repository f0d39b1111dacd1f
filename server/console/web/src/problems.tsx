// All problems, found by name, application or state.
import { useMemo } from "preact/hooks";
import { list, may, type Problem } from "./api";
import { problemNews, whyOf } from "./live";
import { Bar, Choice, Heading, Missing, State, usePolled } from "./parts";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { shared, t } from "./strings";
import { count, done, left, plural, time } from "./words";

const states = ["running", "planning", "combining", "paused", "stopped", "failed", "finished", "cancelled"];
// What it says under "time left": of one that is stopped, why.
const told = (p: Problem): string => (p.state === "running" ? left(p) : p.state === "stopped" || p.state === "failed" ? whyOf(p) : "–");
// The shortest first; what has no end yet last.
const ahead = (p: Problem): number => (p.state === "running" && !p.waits && p.eta_seconds >= 0 ? p.eta_seconds : Infinity);

// A row is a problem, or a flow with its problems. Rows are sorted by `head`: for a problem of a flow that is the flow's own,
// so that it stays below its flow.
interface Line { p: Problem; head: Problem; of?: Problem[]; open?: boolean; inside?: boolean }
const worst = ["failed", "stopped", "cancelled", "paused", "running", "planning", "combining", "finished"];
const sum = (all: Problem[], of: (p: Problem) => number) => all.reduce((total, p) => total + of(p), 0);
// A flow as if it were a problem. Of a node that was added again only the newest counts.
const node = (p: Problem) => p.name.replace(/\.\d+$/, "");
const whole = (name: string, added: Problem[]): Problem => {
  const all = added.filter(p => !added.some(each => each.id > p.id && node(each) === node(p)));
  const state = worst.find(each => all.some(p => p.state === each)) as Problem["state"];
  const telling = all.find(p => p.state === state)!;
  return { ...telling, id: -telling.id, name, application: "", done: sum(all, done) / all.length, hosts: sum(all, p => p.hosts), created_at: Math.min(...all.map(p => p.created_at)) };
};
// In the order of `problems`, those of a flow together where its first one is.
function lines(problems: Problem[], open: (flow: string) => boolean): Line[] {
  const flows = new Map<string, Problem[]>();
  for (const p of problems) if (p.flow) flows.set(p.flow, [...(flows.get(p.flow) ?? []), p]);
  return problems.flatMap(p => {
    const of = flows.get(p.flow);
    if (!of) return [{ p, head: p }];
    if (of[0] !== p) return [];
    const head = whole(p.flow, of), opened = open(p.flow);
    return [{ p: head, head, of, open: opened }, ...(opened ? of.map(each => ({ p: each, head, inside: true })) : [])];
  });
}
const toggled = (flow: string): string => {
  const open = query("open").split(",").filter(Boolean);
  return (open.includes(flow) ? open.filter(each => each !== flow) : [...open, flow]).join(",");
};
const Name = ({ line: { p, of, open, inside } }: { line: Line }) => of ? (
  <>
    <button type="button" class="heading unfold" aria-expanded={open} aria-label={t.problemsOfFlow(p.name)} onClick={() => show({ open: toggled(p.name) })}>{open ? "▾" : "▸"}</button>
    <a href={`#/flows/${p.name}`}>{p.name}</a> <small class="calm">{plural(of.length, t.flowWith)}</small>
  </>
) : <a class={inside ? "inside" : undefined} href={`#/problems/${p.id}`} title={p.name}>{inside ? p.name.slice(p.flow.length + 1) : p.name}</a>;
const finishedOf = (of: Problem[]) => t.finishedOf(count(of.filter(p => p.state === "finished").length), count(of.length));
const Done = ({ line: { p, of } }: { line: Line }) => (of ? <small class="calm">{finishedOf(of)}</small> : <Bar part={done(p)} label={t.doneOf(p.name)} />);
const columns = (): Column<Line>[] => [
  { id: "name", name: t.problem, width: "2fr", order: ({ head }) => head.name, cell: line => <Name line={line} /> },
  { id: "application", name: t.application, width: "1.4fr", order: ({ head }) => head.application, cell: ({ p }) => p.application },
  { id: "state", name: t.state, width: "7rem", order: ({ head }) => head.state, cell: ({ p }) => <State of={p.state} /> },
  { id: "done", name: t.done, width: "9.5rem", order: ({ head }) => done(head), cell: line => <Done line={line} /> },
  { id: "hosts", name: t.hosts, width: "4rem", order: ({ head }) => head.hosts, cell: ({ p }) => count(p.hosts), number: true },
  { id: "left", name: t.timeLeftColumn, width: "1.6fr", order: ({ head }) => ahead(head), cell: ({ p, of }) => (of && p.state === "running" ? "–" : <span title={told(p)}>{told(p)}</span>) },
  { id: "added", name: t.added, width: "10rem", order: ({ head }) => head.created_at, cell: ({ p }) => time(p.created_at), number: true },
];
const brief = (line: Line) => {
  const { p, of } = line;
  return (
    <>
      <span><span><Name line={line} /></span><State of={p.state} /></span>
      <span>{of ? <small>{finishedOf(of)}</small> : <><Bar part={done(p)} label={t.doneOf(p.name)} /><small>{told(p) === "–" ? p.application : told(p)}</small></>}</span>
    </>
  );
};

export function Problems() {
  const all = useMemo(columns, []);
  const [problems, wrong] = usePolled<Problem[]>(() => list("/v1/admin/problems"), 2, [], problemNews());
  const text = query("text").toLowerCase(), state = query("state");
  if (!problems) return <><Heading>{t.problems}</Heading><Missing wrong={wrong} /></>;
  const named = problems.filter(p => !text || `${p.name} ${p.application}`.toLowerCase().includes(text));
  const shown = named.filter(p => !state || p.state === state);
  const open = query("open").split(",");
  const rows = lines(shown, flow => text !== "" || state !== "" || open.includes(flow));
  const found = (each: string) => named.filter(p => p.state === each).length;
  const facets: [string, string][] = [["", t.anyOf(count(named.length))], ...states.filter(each => found(each) > 0 || each === state).map((each): [string, string] => [each, `${shared.states[each]} ${count(found(each))}`])];
  return (
    <>
      <div class="pagehead"><Heading>{t.problems}</Heading>{may("operator") && <div class="buttons"><a class="button" href="#/add">{t.add}</a></div>}</div>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <input type="search" aria-label={t.nameOrApplication} placeholder={t.nameOrApplication} value={query("text")} onInput={event => show({ text: event.currentTarget.value })} />
        <Choice label={t.state} of={facets} now={state} onChoose={value => show({ state: value })} />
        <span class="calm" role="status">{t.problemsOf(plural(shown.length, t.nProblems), count(problems.length))}</span>
      </form>
      {shown.length === 0 ? <p class="calm">{problems.length === 0 ? t.noProblems : t.noProblemMatches}</p>
        : <Rows label={t.problems} columns={all} rows={rows} id={line => line.p.id} brief={brief} first="-added" />}
    </>
  );
}
