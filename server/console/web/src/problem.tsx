import { useState } from "preact/hooks";
import { ask, change, idOf, list, may, type Application, type ItemMap, type Problem, type ProblemSample, type ResultFile } from "./api";
import { ItemMapView } from "./itemmap";
import { Errors } from "./overview";
import { Chart } from "./chart";
import { Files } from "./files";
import { Ask, attempt, Bar, Card, Figure, Heading, Missing, say, State, Table, usePolled } from "./parts";
import { count, done, duration, figure, left, over, percent, plural, time } from "./words";

interface Decision { at: number; host: number; unit: number; kind: string; range: { begin: number; end: number }; reason: string }

export function ProblemPage({ id }: { id: number }) {
  const path = `/v1/admin/problems/${id}`;
  const [p, wrong, again] = usePolled<Problem>(() => ask(path), 2, [id]);
  const ended = p !== undefined && over(p.state);
  const [map, noMap] = usePolled<ItemMap>(() => ask(`${path}/map`), ended ? 0 : 2, [id, ended]);
  const [history, noHistory] = usePolled<ProblemSample[]>(() => list(`${path}/history`), ended ? 0 : 5, [id]);
  const [decisions, noDecisions] = usePolled<Decision[]>(() => list(`${path}/decisions?count=500`), ended ? 0 : 10, [id, ended]);
  if (!p) return <><Heading>Problem {id}</Heading><Missing wrong={wrong} /></>;
  const names = new Map(p.shares.map(share => [share.host, share.name]));
  const past = (history ?? []).filter(sample => sample.stage === p.stage);
  const at = past.map(sample => sample.at);
  return (
    <>
      <p class="calm"><a href="#/">Overview</a> / problem {p.id}</p>
      <Heading>{p.name} <State of={p.state} /></Heading>
      {p.message && <p class={p.state === "failed" ? "bad" : "calm"}><Prose text={p.message} /></p>}
      {p.waits && <p class="calm">waits: <Prose text={p.waits} /></p>}
      <Controls p={p} again={again} />
      <dl class="figures">
        <Figure name="done" value={percent(done(p))} note={` in stage ${p.stage + 1}${p.stage_name && `: ${p.stage_name}`}`} />
        <Figure name="items accepted" value={count(p.accepted)} note={` of ${count(p.items)}`} />
        <Figure name="left" value={p.waits ? "it waits" : left(p)} />
        <Figure name="hosts at work" value={count(p.hosts)} />
        <Figure name="wasted" value={percent(Math.max(0, p.wasted ?? 0))} />
      </dl>
      <div class="cards">
        <Card title="Items" wide>{!map ? <Missing wrong={noMap} /> : map.items > 0 ? <ItemMapView map={map} names={names} /> : <p class="calm">The stage is being planned.</p>}</Card>
        <Results p={p} />
        <Card title="Progress">
          {past.length > 1 ? <Chart title="done" at={at} top={1} lines={[{ label: "done", colour: "--good", area: true, values: past.map(s => s.done), text: percent }]} />
            : history ? <p class="calm">The curve begins after some seconds.</p> : <Missing wrong={noHistory} />}
        </Card>
        <Ends history={history ?? []} />
        <UnitSizes decisions={decisions ?? []} />
        <Card title="Hosts at work" wide><Shares p={p} /></Card>
        <Card title="Errors"><Errors problem={p.id} /><Aside p={p} /></Card>
        {may("operator") && !ended && <Card title="How it is computed"><Rules key={`${p.strategy} ${p.straggler}`} p={p} again={again} /></Card>}
        <Card title="Decisions" wide>{decisions ? <Decisions decisions={decisions.slice(0, 30)} names={names} /> : <Missing wrong={noDecisions} />}</Card>
        <Card title="About it">
          <dl class="facts">
            <dt>application</dt><dd>{p.application}</dd>
            <dt>strategy</dt><dd>{p.strategy}, stragglers: {p.straggler}</dd>
            <dt>validation</dt><dd>{p.validation}</dd>
            <dt>weight, priority</dt><dd>{figure(p.weight)}, {p.priority}</dd>
            <dt>added</dt><dd>{time(p.created_at)}</dd>
            <dt>ended</dt><dd>{time(p.finished_at)}</dd>
            <dt>units handed out</dt><dd>{count(p.units)}, of them {count(p.splits)} split</dd>
          </dl>
        </Card>
      </div>
    </>
  );
}

// How long there was to go, as it was told then, and between which times the end was likely.
function Ends({ history }: { history: ProblemSample[] }) {
  const known = history.filter(s => s.eta_seconds >= 0 && (s.eta_low_seconds ?? -1) >= 0);
  if (known.length < 2) return null;
  const line = (label: string, of: (s: ProblemSample) => number) => ({
    label, colour: "--accent", values: history.map(s => (s.eta_seconds >= 0 && (s.eta_low_seconds ?? -1) >= 0 ? of(s) : null)), text: duration });
  const last = known[known.length - 1];
  return (
    <Card title="Time left">
      <Chart title="time left, as it was estimated" band at={history.map(s => s.at)}
        lines={[line("left", s => s.eta_seconds), line("at least", s => s.eta_low_seconds!), line("at most", s => s.eta_high_seconds!)]} />
      <p class="calm">Two times of three the end lies within the band: now {duration(last.eta_low_seconds!)} to {duration(last.eta_high_seconds!)}.</p>
    </Card>
  );
}

const handedOut = ["fresh", "recover", "split", "copy", "check"];

// How large units were when they were handed out, the newest of them.
function UnitSizes({ decisions }: { decisions: Decision[] }) {
  const units = decisions.filter(each => handedOut.includes(each.kind)).reverse();
  if (units.length < 2) return null;
  return (
    <Card title="Sizes of units">
      <Chart title="items of a unit when it was handed out" at={units.map(each => each.at)} lines={[
        { label: "items", colour: "--accent", values: units.map(each => each.range.end - each.range.begin), text: count }]} />
    </Card>
  );
}

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
      {p.state === "running" && <button onClick={() => act("pause", `${p.name} is paused.`)}>Pause</button>}
      {p.state === "paused" && <button onClick={() => act("resume", `${p.name} goes on.`)}>Resume</button>}
      {tryable && <button onClick={() => act("retry", `What was set aside of ${p.name} is tried again.`)}>Try again what failed</button>}
      {!ended && <button class="plain" onClick={() => setAsking(true)}>Cancel</button>}
      {p.state !== "finished" && p.state !== "cancelled" && <Mend p={p} again={again} />}
      {asking && (
        <Ask title={`Cancel ${p.name}?`} yes="Cancel it" onAnswer={sure => { setAsking(false); if (sure) void act("cancel", `${p.name} is cancelled.`); }}>
          <p>No more of it is computed, and this cannot be undone. {plural(p.accepted, "item is", "items are")} accepted and can still be downloaded.</p>
        </Ask>
      )}
    </div>
  );
}

// Another version of its application, perhaps a mended one, computes the rest and what failed.
function Mend({ p, again }: { p: Problem; again: () => void }) {
  const [applications] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, [p.application]);
  const others = (applications ?? []).map(idOf).filter(each => each.split("@")[0] === p.application.split("@")[0] && each !== p.application).reverse();
  if (others.length === 0) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    const application = String(new FormData(event.target as HTMLFormElement).get("version"));
    void attempt(() => change(`/v1/admin/problems/${p.id}/application`, { application }), `${p.name} goes on with ${application}.`).then(again);
  };
  return (
    <form class="filter inline" onSubmit={submit}>
      <label for="version">Another version</label>
      <select id="version" name="version">{others.map(each => <option key={each}>{each}</option>)}</select>
      <button class="plain">Go on with it</button>
    </form>
  );
}

function Results({ p }: { p: Problem }) {
  const [made, setMade] = useState<{ items: number; files: ResultFile[] } | null>(null);
  const [busy, setBusy] = useState(false);
  if (p.state === "finished") return <Card title="Result"><Files files={p.results} /></Card>;
  const show = async (verb: string) => {
    setBusy(true);
    const got = await attempt(() => change<{ accepted: number; files: ResultFile[] }>(`/v1/admin/problems/${p.id}/${verb}`));
    setBusy(false);
    if (got) setMade({ items: got.accepted, files: got.files });
  };
  const whole = over(p.state) ? "partial" : "preview";
  return (
    <Card title="Result so far" actions={may("operator") && p.accepted > 0 && (
      <span class="buttons">
        <button disabled={busy} onClick={() => show(whole)}>{made ? "Show it again" : "Show it"}</button>
        {whole === "preview" && <button class="plain" disabled={busy} onClick={() => show("partial")}>Download what is there</button>}
      </span>)}>
      {made ? <><p class="calm">Made of {plural(made.items, "item")}.</p><Files files={made.files} /></>
        : <p class="calm">{p.accepted === 0 ? "Nothing is accepted yet." : may("operator") ? "The application can show what is accepted so far." : "Operators can have it shown."}</p>}
    </Card>
  );
}

function Shares({ p }: { p: Problem }) {
  const shares = [...p.shares].sort((a, b) => b.cost - a.cost).slice(0, 100);
  const total = Math.max(p.shares_total ?? 0, p.shares.length);
  const all = p.shares.reduce((sum, each) => sum + each.cost, 0);
  if (shares.length === 0) return <p class="calm">No host has had any of it yet.</p>;
  return (
    <>
      <Table label="Hosts">
        <thead><tr><th scope="col">Host</th><th scope="col" class="n">Items</th><th scope="col">Share</th><th scope="col" class="n">Core-hours</th><th scope="col">Heard of</th></tr></thead>
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
      <h3>Set aside</h3>
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
    if (Object.values(asked).every(value => value === "")) return say("Nothing was changed.");
    void attempt(() => change(`/v1/admin/problems/${p.id}/strategy`, asked), "From now on it is computed so.").then(again);
  };
  const of = (kinds: string[]) => (strategies ?? []).filter(s => kinds.includes(s.kind));
  return (
    <form onSubmit={submit} class="fields">
      <label for="strategy">Strategy</label>
      <input id="strategy" name="strategy" defaultValue={p.strategy} list="strategies" required />
      <datalist id="strategies">{of(["sizing", "mapping"]).map(s => <option key={s.name} value={s.name}>{s.summary}</option>)}</datalist>
      <label for="straggler">Stragglers</label>
      <select id="straggler" name="straggler">
        {[p.straggler, ...of(["straggler"]).map(s => s.name).filter(name => name !== p.straggler)].map(name => <option key={name} value={name}>{name}</option>)}
      </select>
      <label for="weight">Weight</label><input id="weight" name="weight" type="number" min="0.001" max="1000" step="any" defaultValue={`${p.weight}`} required />
      <label for="priority">Priority</label><input id="priority" name="priority" type="number" min="-8" max="8" defaultValue={`${p.priority}`} required />
      <button>Change</button>
    </form>
  );
}

function Decisions({ decisions, names }: { decisions: Decision[]; names: Map<number, string> }) {
  if (decisions.length === 0) return <p class="calm">None yet.</p>;
  return (
    <ol class="decisions" tabIndex={0} aria-label="Decisions, newest first">
      {decisions.map((d, i) => (
        <li key={i}><span class="calm">{time(d.at)}</span> <b>{d.kind}</b> {d.host > 0 && <>for {names.get(d.host) ?? `host ${d.host}`} </>}
          {d.range.end > d.range.begin && <>items {count(d.range.begin)} to {count(d.range.end - 1)}: </>}{d.reason}</li>
      ))}
    </ol>
  );
}
