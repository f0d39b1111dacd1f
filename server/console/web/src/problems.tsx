// All problems, found by name, application or state.
import { useMemo } from "preact/hooks";
import { list, may, type Problem } from "./api";
import { Bar, Choice, Heading, Missing, State, usePolled } from "./parts";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { shared, t } from "./strings";
import { count, done, left, plural, reasonOf, time } from "./words";

const states = ["running", "planning", "combining", "paused", "stopped", "failed", "finished", "cancelled"];
// What it says under "time left": of one that is stopped, why.
const told = (p: Problem): string => (p.state === "running" ? left(p) : p.state === "stopped" || p.state === "failed" ? reasonOf(p) : "–");
// The shortest first; what has no end yet last.
const ahead = (p: Problem): number => (p.state === "running" && !p.waits && p.eta_seconds >= 0 ? p.eta_seconds : Infinity);
const columns = (): Column<Problem>[] => [
  { id: "name", name: t.problem, width: "2fr", order: p => p.name, cell: p => <a href={`#/problems/${p.id}`} title={p.name}>{p.name}</a> },
  { id: "application", name: t.application, width: "1.3fr", order: p => p.application, cell: p => p.application },
  { id: "state", name: t.state, width: "7rem", order: p => p.state, cell: p => <State of={p.state} /> },
  { id: "done", name: t.done, width: "11rem", order: done, cell: p => <Bar part={done(p)} label={t.doneOf(p.name)} /> },
  { id: "hosts", name: t.hosts, width: "4rem", order: p => p.hosts, cell: p => count(p.hosts), number: true },
  { id: "left", name: t.timeLeftColumn, width: "1.6fr", order: ahead, cell: p => <span title={told(p)}>{told(p)}</span> },
  { id: "added", name: t.added, width: "10rem", order: p => p.created_at, cell: p => time(p.created_at), number: true },
];
const brief = (p: Problem) => (
  <>
    <span><a href={`#/problems/${p.id}`}>{p.name}</a><State of={p.state} /></span>
    <span><Bar part={done(p)} label={t.doneOf(p.name)} /><small>{told(p) === "–" ? p.application : told(p)}</small></span>
  </>
);

export function Problems() {
  const all = useMemo(columns, []);
  const [problems, wrong] = usePolled<Problem[]>(() => list("/v1/admin/problems"), 2, []);
  const text = query("text").toLowerCase(), state = query("state");
  if (!problems) return <><Heading>{t.problems}</Heading><Missing wrong={wrong} /></>;
  const named = problems.filter(p => !text || `${p.name} ${p.application}`.toLowerCase().includes(text));
  const shown = named.filter(p => !state || p.state === state);
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
        : <Rows label={t.problems} columns={all} rows={shown} id={p => p.id} brief={brief} first="-added" />}
    </>
  );
}
