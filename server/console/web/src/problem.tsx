import { useState } from "preact/hooks";
import { ask, change, idOf, list, may, type Application, type ItemMap, type Problem, type ProblemSample } from "./api";
import { ItemMapView } from "./itemmap";
import { Errors } from "./overview";
import { Chart } from "./chart";
import { Files } from "./files";
import { Ask, attempt, Bar, Card, Figure, Heading, Missing, say, State, Table, usePolled } from "./parts";
import type { DecisionInfo } from "./messages";
import { useLivePicture } from "./picture";
import { count, done, duration, figure, left, over, percent, plural, time } from "./words";

export function ProblemPage({ id }: { id: number }) {
  const path = `/v1/admin/problems/${id}`;
  const [p, wrong, again] = usePolled<Problem>(() => ask(path), 2, [id]);
  const ended = p !== undefined && over(p.state);
  const [map, noMap] = usePolled<ItemMap>(() => ask(`${path}/map`), ended ? 0 : 2, [id, ended]);
  const [history, noHistory] = usePolled<ProblemSample[]>(() => list(`${path}/history`), ended ? 0 : 5, [id]);
  const [decisions, noDecisions] = usePolled<DecisionInfo[]>(() => list(`${path}/decisions?count=500`), ended ? 0 : 10, [id, ended]);
  if (!p) return <><Heading>Problem {id}</Heading><Missing wrong={wrong} /></>;
  const names = new Map(p.shares.map(share => [share.host, share.name]));
  return (
    <>
      <p class="calm"><a href="#/problems">Problems</a> / problem {p.id}</p>
      <div class="head"><Heading>{p.name} <State of={p.state} /></Heading><Controls p={p} again={again} /></div>
      {p.message && <p class={p.state === "failed" ? "bad" : "calm"}><Prose text={p.message} /></p>}
      {p.waits && <p class="calm">Waiting: <Prose text={p.waits} /></p>}
      <progress class="whole" max={1} value={done(p)} aria-label="done" />
      <dl class="figures">
        <Figure name={`done${p.stage_name ? `, now in stage ${p.stage + 1}: ${p.stage_name}` : ""}`} value={percent(done(p))} />
        <Figure name="items accepted" value={count(p.accepted)} note={` of ${count(p.items)}`} />
        <Figure name="time left" value={p.waits ? "not started" : left(p)} />
        <Figure name="hosts at work" value={count(p.hosts)} />
        <Figure name="wasted" value={percent(Math.max(0, p.wasted ?? 0))} />
      </dl>
      <div class="columns">
        <div>
          <Card title="Items">{!map ? <Missing wrong={noMap} /> : map.items > 0 ? <ItemMapView map={map} names={names} /> : <p class="calm">The stage is being planned.</p>}</Card>
          <Course p={p} history={history} wrong={noHistory} decisions={decisions ?? []} />
          <Card title="Hosts at work"><Shares p={p} /></Card>
          <Card title="Decisions">{decisions ? <Decisions decisions={decisions.slice(0, 30)} names={names} /> : <Missing wrong={noDecisions} />}</Card>
        </div>
        <div>
          <Results p={p} />
          <Card title="Errors"><Errors problem={p.id} /><Aside p={p} /></Card>
          {may("operator") && !ended && <Card title="Scheduling"><Rules key={`${p.strategy} ${p.straggler}`} p={p} again={again} /></Card>}
          <Card title="Details">
            <dl class="facts">
              <dt>application</dt><dd>{p.application}</dd>
              <dt>strategy</dt><dd>{p.strategy}, stragglers: {p.straggler}</dd>
              <dt>validation</dt><dd>{p.validation}</dd>
              <dt>weight, priority</dt><dd>{figure(p.weight)}, {p.priority}</dd>
              <dt>added</dt><dd>{time(p.created_at)}</dd>
              <dt>ended</dt><dd>{time(p.finished_at)}</dd>
              <dt>units</dt><dd>{count(p.units)} handed out, {count(p.splits)} of them split</dd>
            </dl>
          </Card>
        </div>
      </div>
    </>
  );
}

const spans: [string, number][] = [["all", 0], ["1 h", 3600], ["15 min", 900], ["5 min", 300]];

// Progress, time left and sizes of units over one time, with one cursor.
function Course({ p, history, wrong, decisions }: { p: Problem; history?: ProblemSample[]; wrong: string; decisions: DecisionInfo[] }) {
  const [span, setSpan] = useState(0);
  if (!history) return <Card title="Progress"><Missing wrong={wrong} /></Card>;
  const to = Math.max(0, ...history.map(s => s.at)), from = span ? to - span * 1e6 : Math.min(to, ...history.map(s => s.at));
  const past = history.filter(s => s.stage === p.stage && s.at >= from);
  const told = (s: ProblemSample) => s.eta_seconds >= 0 && (s.eta_low_seconds ?? -1) >= 0;
  const guesses = history.filter(s => s.at >= from);
  const last = [...guesses].reverse().find(told);
  const line = (label: string, of: (s: ProblemSample) => number) => ({ label, colour: "--accent", values: guesses.map(s => (told(s) ? of(s) : null)), text: duration });
  const units = decisions.filter(each => handedOut.includes(each.kind) && each.at >= from).reverse();
  const share = { from, to, group: `problem-${p.id}` };
  return (
    <Card title="Progress" actions={<span class="picker" role="group" aria-label="Time range">
      {spans.map(([name, seconds]) => <button type="button" key={name} class="plain small" aria-pressed={span === seconds} onClick={() => setSpan(seconds)}>{name}</button>)}</span>}>
      {past.length < 2 ? <p class="calm">The chart starts after a few seconds.</p> : (
        <>
          <Chart title="done" at={past.map(s => s.at)} top={1} share={share} lines={[{ label: "done", colour: "--good", area: true, values: past.map(s => s.done), text: percent }]} />
          {last && <Chart title={`time left; 67 % interval: ${duration(last.eta_low_seconds!)} to ${duration(last.eta_high_seconds!)}`} band at={guesses.map(s => s.at)} share={share}
            lines={[line("left", s => s.eta_seconds), line("at least", s => s.eta_low_seconds!), line("at most", s => s.eta_high_seconds!)]} />}
          {units.length > 1 && <Chart title="items per unit, when assigned" at={units.map(each => each.at)} share={share} lines={[
            { label: "items", colour: "--accent", values: units.map(each => each.range.end - each.range.begin), text: count }]} />}
        </>
      )}
    </Card>
  );
}

const handedOut = ["fresh", "recover", "split", "copy", "check"];

function Prose({ text }: { text: string }) {
  const [first, ...rest] = text.trim().split("\n");
  return rest.length ? <details><summary>{first}</summary><pre tabIndex={0}>{text}</pre></details> : <>{first}</>;
}

function Controls({ p, again }: { p: Problem; again: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!may("operator")) return null;
  const act = (verb: string, good: string) => attempt(() => change(`/v1/admin/problems/${p.id}/${verb}`), good).then(again);
  const ended = over(p.state);
  const tryable = p.state === "failed" || p.set_aside.some(each => each.message.startsWith("set aside"));
  return (
    <div class="buttons">
      {p.state === "running" && <button onClick={() => act("pause", `${p.name} paused.`)}>Pause</button>}
      {p.state === "paused" && <button onClick={() => act("resume", `${p.name} resumed.`)}>Resume</button>}
      {tryable && <button onClick={() => act("retry", `Retrying the failed items of ${p.name}.`)}>Retry failed items</button>}
      {!ended && <button class="plain" onClick={() => setAsking(true)}>Cancel</button>}
      {p.state !== "finished" && p.state !== "cancelled" && <Mend p={p} again={again} />}
      {asking && (
        <Ask title={`Cancel ${p.name}?`} yes="Cancel problem" no="Back" onAnswer={sure => { setAsking(false); if (sure) void act("cancel", `${p.name} cancelled.`); }}>
          <p>Computing stops for good. This cannot be undone. {plural(p.accepted, "accepted item")} can still be downloaded.</p>
        </Ask>
      )}
    </div>
  );
}

// Another version of its application, perhaps a fixed one, computes the rest and what failed.
function Mend({ p, again }: { p: Problem; again: () => void }) {
  const [applications] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, [p.application]);
  const others = (applications ?? []).map(idOf).filter(each => each.split("@")[0] === p.application.split("@")[0] && each !== p.application).reverse();
  if (others.length === 0) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    const application = String(new FormData(event.target as HTMLFormElement).get("version"));
    void attempt(() => change(`/v1/admin/problems/${p.id}/application`, { application }), `${p.name} continues with ${application}.`).then(again);
  };
  return (
    <form class="filter inline" onSubmit={submit}>
      <label for="version">Another version</label>
      <select id="version" name="version">{others.map(each => <option key={each}>{each}</option>)}</select>
      <button class="plain">Use this version</button>
    </form>
  );
}

function Results({ p }: { p: Problem }) {
  const { made, wrong, fetchPartial, busy } = useLivePicture(p);
  if (p.state === "finished") return <Card title="Result"><Files files={p.results} /></Card>;
  return (
    <Card title="Live picture" actions={may("operator") && p.accepted > 0 && <button class="plain small" disabled={busy} onClick={fetchPartial}>Fetch partial result</button>}>
      {made ? <><p class="calm">Preview of {plural(made.items, "item")}</p><Files files={made.files} /></>
        : wrong ? <p class="calm">{wrong}</p>
        : <p class="calm">{p.accepted === 0 ? "No item is accepted yet." : may("operator") ? "The application prepares a preview …" : "Operators see a preview here."}</p>}
    </Card>
  );
}

function Shares({ p }: { p: Problem }) {
  const shares = [...p.shares].sort((a, b) => b.cost - a.cost).slice(0, 100);
  const total = Math.max(p.shares_total ?? 0, p.shares.length);
  const all = p.shares.reduce((sum, each) => sum + each.cost, 0);
  if (shares.length === 0) return <p class="calm">No host has requested work yet.</p>;
  return (
    <>
      <Table label="Hosts">
        <thead><tr><th scope="col">Host</th><th scope="col" class="n">Items</th><th scope="col">Share</th><th scope="col" class="n">Core-hours</th><th scope="col">Last contact</th></tr></thead>
        <tbody>
          {shares.map(s => (
            <tr key={s.host}>
              <th scope="row"><a href={`#/hosts/${s.host}`}>{s.name || `host ${s.host}`}</a></th>
              <td class="n">{count(s.items)}</td>
              <td><Bar part={all > 0 ? s.cost / all : 0} label={`share of ${s.name}`} /></td>
              <td class="n">{figure(s.busy_seconds / 3600)}</td>
              <td>{duration(s.last_contact_seconds)} ago</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {total > shares.length && <p class="calm">and {plural(total - shares.length, "more host")}.</p>}
    </>
  );
}

function Aside({ p }: { p: Problem }) {
  const aside = p.set_aside.filter(each => each.message.startsWith("set aside"));
  if (aside.length === 0) return null;
  return (
    <>
      <h3>Quarantined items</h3>
      <ul class="errors">
        {aside.slice(0, 20).map(each => <li key={each.range.begin}>items {count(each.range.begin)} to {count(each.range.end - 1)}: <Prose text={each.message} /></li>)}
      </ul>
    </>
  );
}

function Rules({ p, again }: { p: Problem; again: () => void }) {
  const [strategies] = usePolled<{ name: string; kind: string; summary: string }[]>(() => list("/v1/admin/strategies"), 0, []);
  const submit = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const changed = (name: "strategy" | "straggler") => (text(name) === p[name] ? "" : text(name));  // empty: as it is
    const asked: Record<string, unknown> = { strategy: changed("strategy"), straggler: changed("straggler") };
    if (Number(text("weight")) !== p.weight) asked.weight = Number(text("weight"));
    if (Number(text("priority")) !== p.priority) asked.priority = Number(text("priority"));
    if (Object.values(asked).every(value => value === "")) return say("Nothing changed.");
    void attempt(() => change(`/v1/admin/problems/${p.id}/strategy`, asked), "Saved. New units will use it.").then(again);
  };
  const of = (kinds: string[]) => (strategies ?? []).filter(s => kinds.includes(s.kind));
  return (
    <form onSubmit={submit} class="fields">
      <label for="strategy">Strategy</label>
      <StrategyChoice now={p.strategy} all={of(["sizing", "mapping"])} />
      <label for="straggler">Stragglers</label>
      <select id="straggler" name="straggler">
        {[p.straggler, ...of(["straggler"]).map(s => s.name).filter(name => name !== p.straggler)].map(name => <option key={name} value={name}>{name}</option>)}
      </select>
      <label for="weight">Weight</label><input id="weight" name="weight" type="number" min="0.001" max="1000" step="any" defaultValue={`${p.weight}`} required />
      <label for="priority">Priority</label><input id="priority" name="priority" type="number" min="-8" max="8" defaultValue={`${p.priority}`} required />
      <button>Save</button>
    </form>
  );
}

// By name and a sentence; the one that is in force may have options of its own.
function StrategyChoice({ now, all }: { now: string; all: { name: string; summary: string }[] }) {
  const [chosen, setChosen] = useState(now);
  const known = all.find(s => s.name === chosen.split(",")[0]);
  const names = [now, ...all.map(s => s.name).filter(name => name !== now)];
  return (
    <div>
      <select id="strategy" name="strategy" value={chosen} onChange={event => setChosen(event.currentTarget.value)} aria-describedby="strategy-hint">
        {names.map(name => <option key={name} value={name}>{name}{name === "gleaner" ? " (recommended)" : ""}</option>)}
      </select>
      <small id="strategy-hint">{known?.summary}</small>
    </div>
  );
}

function Decisions({ decisions, names }: { decisions: DecisionInfo[]; names: Map<number, string> }) {
  if (decisions.length === 0) return <p class="calm">No decisions yet.</p>;
  return (
    <ol class="decisions" tabIndex={0} aria-label="Decisions, newest first">
      {decisions.map((d, i) => (
        <li key={i}><span class="calm">{time(d.at)}</span> <b>{d.kind}</b> {d.host > 0 && <>for {names.get(d.host) ?? `host ${d.host}`} </>}
          {d.range.end > d.range.begin && <>items {count(d.range.begin)} to {count(d.range.end - 1)}: </>}{d.reason}</li>
      ))}
    </ol>
  );
}
