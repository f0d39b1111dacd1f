import { useMemo } from "preact/hooks";
import { ask, list, may, type Day, type ErrorGroup, type Live, type Status } from "./api";
import { live, samples } from "./live";
import { Chart } from "./chart";
import { Bar, Card, Figure, Heading, Missing, State, Table, usePolled } from "./parts";
import { count, done, figure, lastLine, left, over, percent, plural, time } from "./words";

export function Overview() {
  const view = live.value;
  if (!view) return <p aria-busy="true">Waiting for the server …</p>;
  const { status, problems } = view;
  const running = problems.filter(p => p.state === "running");
  const past = samples.value;
  const at = past.map(s => s.at);
  const worst = Math.max(0, ...problems.map(p => p.wasted ?? 0));
  return (
    <>
      <Heading>Overview</Heading>
      <Attention view={view} />
      <dl class="figures">
        <Figure name="hosts online" value={count(status.hosts_active)} note={` of ${count(status.hosts)}`} />
        <Figure name="problems running" value={count(running.length)} note={` of ${count(view.problems_total)}`} />
        <Figure name="items per second" value={figure(view.sample.items_per_second)} />
        <Figure name="core-hours" value={figure(view.sample.core_hours)} note={` since ${time(status.started_at)}`} />
        <Figure name="most wasted" value={percent(worst)} note=" of one problem's work" />
      </dl>
      <div class="cards">
        <Card title="Items accepted">
          <Chart title="items per second" at={at} lines={[{ label: "items per second", colour: "--good", values: past.map(s => s.items_per_second), area: true, text: figure }]} />
        </Card>
        <Card title="Computers">
          <Chart title="hosts and busy cores" at={at} lines={[
            { label: "busy cores", colour: "--accent", values: past.map(s => s.cores_busy), area: true, text: figure },
            { label: "hosts online", colour: "--calm", values: past.map(s => s.hosts_active), text: figure }]} />
        </Card>
        <Days />
        <Card title="Problems" wide actions={may("operator") && <a class="button" href="#/add">Add a problem</a>}>
          {problems.length === 0 ? <p>No problems yet.</p> : <ProblemTable problems={problems} total={view.problems_total} />}
        </Card>
        {view.errors.length > 0 && <Card title="Errors" wide><ErrorList errors={view.errors} /></Card>}
      </div>
    </>
  );
}

// What was contributed day by day, which outlasts a restart of the server.
function Days() {
  const [days] = usePolled<Day[]>(() => list("/v1/admin/days"), 60, []);
  if (!days || days.length < 1) return null;
  const shown = days.slice(-60);
  const energy = shown.some(day => day.kilowatt_hours > 0);
  const sum = (of: (day: Day) => number) => shown.reduce((all, day) => all + of(day), 0);
  return (
    <Card title="Contributed">
      <p class="calm">{figure(sum(day => day.core_hours))} core-hours{energy && <>, {figure(sum(day => day.kilowatt_hours))} kWh where owners said what they draw</>} in {plural(shown.length, "day")}.</p>
      {shown.length > 1 && <Chart title="core-hours a day" at={shown.map(day => day.at)} lines={[
        { label: "core-hours", colour: "--accent", values: shown.map(day => day.core_hours), area: true, text: figure }]} />}
    </Card>
  );
}

function ProblemTable({ problems, total }: { problems: Live["problems"]; total: number }) {
  return (
    <>
      <Table label="Problems">
        <thead><tr><th scope="col">Problem</th><th scope="col">State</th><th scope="col">Done</th><th scope="col" class="n">Hosts</th><th scope="col">Left</th></tr></thead>
        <tbody>
          {problems.slice(0, 50).map(p => (
            <tr key={p.id}>
              <th scope="row"><a href={`#/problems/${p.id}`}>{p.name}</a><br /><span class="calm">{p.application}</span></th>
              <td><State of={p.state} /></td>
              <td><Bar part={done(p)} label={`${p.name} done`} /></td>
              <td class="n">{count(p.hosts)}</td>
              <td>{left(p)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {total > 50 && <p class="calm">{plural(total - 50, "older problem")} not shown. Run <code>gleaner-admin problem list</code> for all.</p>}
    </>
  );
}

// Those of one problem. A page that is opened by its address comes before the live view.
export function Errors({ problem }: { problem: number }) {
  const view = live.value;
  if (!view) return <Missing wrong="" />;
  return <ErrorList errors={view.errors.filter(e => e.problem === problem)} problem={problem} />;
}

function ErrorList({ errors, problem }: { errors: ErrorGroup[]; problem?: number }) {
  if (errors.length === 0) return <p class="calm">No recent errors.</p>;
  return (
    <ul class="errors">
      {errors.map(e => (
        <li key={`${e.problem} ${e.kind} ${e.message}`}>
          {problem === undefined && <a href={`#/problems/${e.problem}`}>{e.problem_name}</a>} <b>{e.words || lastLine(e.message) || e.kind}</b>
          <br /><span class="calm">{plural(e.times, "time")} on {plural(e.hosts, "host")}, {e.application}, last {time(e.last_at)}</span>
          {e.message.trim().includes("\n") && <details><summary>All it said</summary><pre tabIndex={0}>{e.message}</pre></details>}
        </li>
      ))}
    </ul>
  );
}

// What somebody should do something about, in sentences.
function Attention({ view }: { view: Live }) {
  const { status, problems, errors } = view;
  const joinless = status.hosts === 0;
  const [told] = usePolled<Status | null>(() => (joinless && may("operator") ? ask<Status>("/v1/admin/status") : Promise.resolve(null)), 0, [joinless]);
  const sentences = useMemo(() => {
    const list: { text: string; link?: string }[] = status.warnings.map(text => ({ text }));
    const open = problems.filter(p => !over(p.state));
    if (status.hosts > 0 && status.hosts_active === 0 && open.length > 0)
      list.push({ text: "No host has been heard of for five minutes: nothing is computed.", link: "#/hosts" });
    for (const p of problems.filter(one => one.state === "failed").slice(0, 5))
      list.push({ text: `${p.name} failed: ${lastLine(p.message)}`, link: `#/problems/${p.id}` });
    for (const p of open.filter(one => one.message)) list.push({ text: `${p.name}: ${lastLine(p.message)}`, link: `#/problems/${p.id}` });
    // Of one that has no hosts now, its page says why: the fleet may be busy or away.
    for (const p of open.filter(one => one.waits && (one.state !== "running" || one.hosts > 0 || one.accepted === one.items)))
      list.push({ text: `${p.name} waits: ${lastLine(p.waits!)}`, link: `#/problems/${p.id}` });
    for (const e of errors.slice(0, 3))
      list.push({ text: `${e.problem_name}: ${e.words || lastLine(e.message) || e.kind} (${plural(e.times, "time")} on ${plural(e.hosts, "host")})`, link: `#/problems/${e.problem}` });
    return list;
  }, [view]);
  if (sentences.length === 0 && !joinless) return <p class="fine">Nothing needs your attention.</p>;
  return (
    <section class="attention" aria-label="What needs attention">
      <ul>
        {joinless && <li>Nobody has joined yet.{told?.join_code && <> Volunteers run <code>gleaner-client join {told.join_code}</code> and are strangers, whose results others verify. Your own computers join with a code of <code>gleaner-admin code add NAME --own</code>.</>}</li>}
        {sentences.map(s => <li key={s.text}>{s.link ? <a href={s.link}>{s.text}</a> : s.text}</li>)}
      </ul>
    </section>
  );
}
