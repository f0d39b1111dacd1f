// All problems, found by name, application or state.
import { list, may, type Problem } from "./api";
import { Bar, Heading, Missing, State, usePolled } from "./parts";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { count, done, left, plural, time } from "./words";

const states = ["running", "planning", "combining", "paused", "stopped", "failed", "finished", "cancelled"];
const columns: Column<Problem>[] = [
  { name: "Problem", width: "2fr", order: p => p.name, cell: p => <a href={`#/problems/${p.id}`}>{p.name}</a> },
  { name: "Application", width: "1.4fr", order: p => p.application, cell: p => p.application, minor: true },
  { name: "State", width: "7rem", order: p => p.state, cell: p => <State of={p.state} /> },
  { name: "Done", width: "12rem", order: done, cell: p => <Bar part={done(p)} label={`${p.name} done`} /> },
  { name: "Hosts", width: "5rem", order: p => p.hosts, cell: p => count(p.hosts), number: true, minor: true },
  { name: "Time left", width: "1.4fr", cell: p => <span title={left(p)}>{left(p)}</span>, minor: true },
  { name: "Added", width: "10rem", order: p => p.created_at, cell: p => time(p.created_at), minor: true },
];

export function Problems() {
  const [problems, wrong] = usePolled<Problem[]>(() => list("/v1/admin/problems"), 5, []);
  const text = query("text").toLowerCase(), state = query("state");
  if (!problems) return <><Heading>Problems</Heading><Missing wrong={wrong} /></>;
  const shown = problems.filter(p => (!state || p.state === state) && (!text || `${p.name} ${p.application}`.toLowerCase().includes(text)));
  return (
    <>
      <div class="head"><Heading>Problems</Heading>{may("operator") && <a class="button" href="#/add">Add a problem</a>}</div>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <label>Name or application <input type="search" value={query("text")} onInput={event => show({ text: event.currentTarget.value })} /></label>
        <label>State <select value={state} onChange={event => show({ state: event.currentTarget.value })}>
          <option value="">any</option>{states.map(each => <option key={each} value={each}>{each}</option>)}
        </select></label>
        <span class="calm" role="status">{plural(shown.length, "problem")} of {count(problems.length)}</span>
      </form>
      {shown.length === 0 ? <p class="calm">{problems.length === 0 ? "No problems yet." : "No problem matches."}</p>
        : <Rows label="Problems" columns={columns} rows={shown} id={p => p.id} first="-Added" />}
    </>
  );
}
