import { useMemo } from "preact/hooks";
import { ask, list, may, type Day, type ErrorGroup, type Live, type Status } from "./api";
import { live, samples, whyOf } from "./live";
import { Chart } from "./chart";
import { Bar, Card, Figure, Heading, Missing, rich, State, Strip, usePolled } from "./parts";
import { shared, t } from "./strings";
import { coreHours, count, done, figure, lastLine, leftOf, over, percent, plural, time } from "./words";

const curveHeight = 110;

export function Overview() {
  const view = live.value;
  if (!view) return <><Heading>{t.overview}</Heading><p aria-busy="true">{t.waitingForServer}</p></>;
  const { status, problems } = view;
  const running = problems.filter(p => p.state === "running");
  const past = samples.value;
  const at = past.map(s => s.at);
  const share = at.length > 1 ? { from: at[0], to: at[at.length - 1], group: "overview" } : undefined;
  const worst = Math.max(0, ...problems.map(p => p.wasted ?? 0));
  return (
    <div class="overview">
      <div class="pagehead"><Heading>{t.overview}</Heading>{may("operator") && <div class="buttons"><a class="button" href="#/add">{t.add}</a></div>}</div>
      <Attention view={view} />
      <Strip>
        <Figure name={t.hostsOnline} value={count(status.hosts_active)} note={t.ofAll(count(status.hosts))} />
        <Figure name={t.problemsRunning} value={count(running.length)} note={t.ofAll(count(view.problems_total))} />
        <Figure name={t.busySlots} value={count(view.sample.cores_busy)} />
        <Figure name={t.itemsPerSecond} value={figure(view.sample.items_per_second)} />
        <Figure name={t.coreHoursSince(time(status.started_at))} value={coreHours(view.sample.core_hours)} />
        <Figure name={t.mostWasted} value={percent(worst)} />
      </Strip>
      <div class="columns">
        <div>
          <Card title={t.problems} actions={<a href="#/problems">{t.allProblems}</a>}>
            {problems.length === 0 ? <p>{t.noProblems}</p> : <ProblemList problems={problems} total={view.problems_total} />}
          </Card>
          {view.errors.length > 0 && <Card title={t.errors}><ErrorList errors={view.errors.slice(0, errorsShown)} /></Card>}
        </div>
        <div>
          <Card title={t.activity}>
            <Chart title={t.slotsAndHosts} at={at} share={share} height={curveHeight} clockless lines={[
              { label: t.busySlots, colour: "--accent", values: past.map(s => s.cores_busy), area: true, text: figure },
              { label: t.hostsOnline, colour: "--warn", values: past.map(s => s.hosts_active), text: figure }]} />
            <Chart title={t.itemsAcceptedPerSecond} at={at} share={share} height={curveHeight + 24} lines={[{ label: t.itemsPerSecond, colour: "--good", values: past.map(s => s.items_per_second), area: true, text: figure }]} />
          </Card>
          <Days />
        </div>
      </div>
    </div>
  );
}

// What was contributed day by day, which outlasts a restart of the server.
function Days() {
  const [days] = usePolled<Day[]>(() => list("/v1/admin/days"), 60, []);
  if (!days || days.length < 1) return null;
  const shown = days.slice(-60);
  const energy = shown.some(day => day.kilowatt_hours > 0);
  const hours = coreHours(shown.reduce((all, day) => all + day.core_hours, 0)), days_shown = plural(shown.length, shared.days);
  return (
    <Card title={t.contributed}>
      <p class="calm">{energy ? t.contributedEnergy(hours, figure(shown.reduce((all, day) => all + day.kilowatt_hours, 0)), days_shown) : t.contributedHours(hours, days_shown)}</p>
      {shown.length > 1 && <Chart title={t.coreHoursADay} height={curveHeight} at={shown.map(day => day.at)} lines={[
        { label: t.coreHours, colour: "--accent", values: shown.map(day => day.core_hours), area: true, text: coreHours }]} />}
    </Card>
  );
}

const problemsShown = 12, errorsShown = 8;

// Open ones come first. A row is a line, so that many are seen at once.
function ProblemList({ problems, total }: { problems: Live["problems"]; total: number }) {
  const shown = problems.slice(0, problemsShown);
  return (
    <>
      <ul class="lines" aria-label={t.problems}>
        {shown.map(p => (
          <li key={p.id}>
            <span class="what"><a href={`#/problems/${p.id}`}>{p.name}</a><small title={why(p)}>{[why(p).startsWith(p.application) ? "" : p.application, why(p)].filter(Boolean).join(" · ")}</small></span>
            <State of={p.state} />
            <Bar part={done(p)} label={t.doneOf(p.name)} />
          </li>
        ))}
      </ul>
      {total > shown.length && <p class="calm"><a href="#/problems">{plural(total - shown.length, t.moreProblems)}</a></p>}
    </>
  );
}

// What there is to say of it in a line: who is at it and how long it takes, or why nobody is.
function why(p: Live["problems"][number]): string {
  if (p.state === "running") return p.waits ? lastLine(p.waits) : `${leftOf(p)}, ${plural(p.hosts, t.nHosts)}`;
  if (p.message && p.state !== "cancelled") return whyOf(p);
  return over(p.state) ? t.endedAt(time(p.finished_at)) : "";
}

// Those of one problem. A page that is opened by its address comes before the live view.
export function Errors({ problem }: { problem: number }) {
  const view = live.value;
  if (!view) return <Missing wrong="" />;
  return <ErrorList errors={view.errors.filter(e => e.problem === problem)} problem={problem} />;
}

// By what was wrong, with the hosts that failed so most often.
function ErrorList({ errors, problem }: { errors: ErrorGroup[]; problem?: number }) {
  if (errors.length === 0) return <p class="calm">{t.noErrors}</p>;
  return (
    <ul class="errors">
      {errors.map(e => (
        <li key={`${e.problem} ${e.kind} ${e.message}`}>
          <b>{e.words || lastLine(e.message) || e.kind}</b>
          <p class="calm">{problem === undefined && <><a href={`#/problems/${e.problem}`}>{e.problem_name}</a>, </>}{t.errorTimes(e.application, plural(e.times, t.times), time(e.last_at))}</p>
          <p class="calm">{e.by.length > 0 ? e.by.slice(0, 5).map((each, i) => <>{i > 0 && ", "}<a href={`#/hosts/${each.host}`}>{each.name || t.hostNumber(each.host)}</a> {count(each.times)}×</>) : t.onHosts(plural(e.hosts, t.nHosts))}
            {e.by.length > 0 && e.hosts > Math.min(5, e.by.length) && t.andMore(plural(e.hosts - Math.min(5, e.by.length), t.moreHosts))}</p>
          {e.message.trim().includes("\n") && <details><summary>{t.fullOutput}</summary><pre tabIndex={0}>{e.message}</pre></details>}
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
      list.push({ text: t.noHostReports, link: "#/hosts" });
    for (const p of problems.filter(one => one.state === "failed").slice(0, 5))
      list.push({ text: t.problemFailed(p.name, whyOf(p)), link: `#/problems/${p.id}` });
    for (const p of open.filter(one => one.message)) list.push({ text: p.state === "stopped" ? t.problemStopped(p.name, whyOf(p)) : `${p.name}: ${whyOf(p)}`, link: `#/problems/${p.id}` });
    if (status.hosts_on_hold > 0) list.push({ text: plural(status.hosts_on_hold, t.hostsOnHold), link: "#/hosts?state=on+hold" });
    // Of one that has no hosts now, its page says why: the fleet may be busy or away.
    for (const p of open.filter(one => one.waits && (one.state !== "running" || one.hosts > 0 || one.accepted === one.items)))
      list.push({ text: t.problemWaits(p.name, lastLine(p.waits!)), link: `#/problems/${p.id}` });
    for (const e of errors.filter(one => !open.some(p => p.id === one.problem && p.message)).slice(0, 3))
      list.push({ text: t.problemErrors(e.problem_name, e.words || lastLine(e.message) || e.kind, plural(e.times, t.times), plural(e.hosts, t.nHosts)), link: `#/problems/${e.problem}` });
    return list;
  }, [view]);
  if (sentences.length === 0 && !joinless) return <p class="fine">{t.noAttention}</p>;
  return (
    <section class="attention" aria-label={t.attention}>
      <ul>
        {joinless && <li>{t.noHostJoined}{told?.join_code && <> {rich(t.joinHow, { code: told.join_code, access: <a href="#/access">{t.access}</a> })}</>}</li>}
        {sentences.map(s => <li key={s.text}>{s.link ? <a href={s.link}>{s.text}</a> : s.text}</li>)}
      </ul>
    </section>
  );
}
