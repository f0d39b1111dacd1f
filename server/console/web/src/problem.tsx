import { useRef, useState } from "preact/hooks";
import { ask, list, may, type ItemMap, type Problem, type ProblemSample } from "./api";
import { Course } from "./course";
import { Further, useFurther } from "./fetched";
import { Files } from "./files";
import { ItemMapView } from "./itemmap";
import type { DecisionInfo, FlowInfo } from "./messages";
import { Errors } from "./overview";
import { Bar, Card, Crumbs, Figure, Heading, Missing, State, Strip, Table, usePolled } from "./parts";
import { useLivePicture, type LivePicture } from "./picture";
import { t } from "./strings";
import { Controls, Trouble, Versions } from "./stopped";
import { ago, coreHours, count, done, figure, left, over, percent, plural, time } from "./words";

export function ProblemPage({ id }: { id: number }) {
  const path = `/v1/admin/problems/${id}`;
  const [p, wrong, again] = usePolled<Problem>(() => ask(path), 1, [id]);
  if (!p) return <><Heading>{`${t.problem} ${id}`}</Heading><Missing wrong={wrong} /></>;
  return <Whole p={p} path={path} again={again} />;
}

function Whole({ p, path, again }: { p: Problem; path: string; again: () => void }) {
  const ended = over(p.state);
  const [map, noMap] = usePolled<ItemMap>(() => ask(`${path}/map`), ended ? 0 : 5, [p.id, ended], `${p.accepted} ${p.units} ${p.open_units}`);
  const [history, noHistory] = usePolled<ProblemSample[]>(() => list(`${path}/history`), ended ? 0 : 5, [p.id, ended]);
  const [decisions, noDecisions] = usePolled<DecisionInfo[]>(() => list(`${path}/decisions?count=500`), ended ? 0 : 10, [p.id, ended]);
  const [flow, noFlow] = usePolled<FlowInfo | null>(() => (p.flow ? ask<FlowInfo>(`/v1/admin/flows/${p.flow}`) : Promise.resolve(null)), p.flow && !ended ? 2 : 0, [p.flow, ended]);
  const [further, noFurther] = useFurther();
  const picture = useLivePicture(p);
  const [tabled, setTabled] = useState(false);
  const shown = useRef(false);  // What is below a table that is there from the beginning waits for it.
  // All parts at once: none moves another when it comes.
  if (!(map || noMap) || !(history || noHistory) || !(decisions || noDecisions) || !(flow !== undefined || noFlow) || !(further || noFurther)) return <><Heading>{p.name}</Heading><Missing wrong="" /></>;
  const names = new Map(p.shares.map(share => [share.host, share.name]));
  const files = p.state === "finished" ? p.results : picture.made?.files;
  const table = files?.find(file => file.name === "table.csv");
  shown.current ||= !table || tabled || further === null;
  const part = p.items > 0 ? p.accepted / p.items : 0;
  return (
    <>
      <Crumbs to="#/problems" name={t.problems} here={t.problemNumber(p.id)} />
      <div class="pagehead"><Heading>{p.name} <State of={p.state} /></Heading><Controls p={p} again={again} /></div>
      <Trouble p={p} again={again} onPartial={picture.fetchPartial} />
      {p.waits && <p class="calm">{t.waitingFor(p.waits)}</p>}
      <progress class="whole" max={1} value={done(p)} aria-label={t.doneName} />
      <Strip>
        <Figure name={p.stage_name ? t.doneInStage(p.stage + 1, p.stage_name) : t.doneName} value={percent(done(p))} note={t.ofTheWork} />
        <Figure name={t.itemsAccepted} value={count(p.accepted)} note={t.ofAll(count(p.items))} />
        <Figure name={t.timeLeftName} value={p.waits ? t.notStarted : left(p)} />
        <Figure name={t.hostsAtWork} value={count(p.hosts)} />
        <Figure name={t.wasted} value={percent(Math.max(0, p.wasted ?? 0))} />
      </Strip>
      {p.flow && <Further of={({ FlowCard }) => <FlowCard name={p.flow} flow={flow} wrong={noFlow} here={p.id} />} />}
      {table && <Further of={({ TableView }) => <TableView p={p} file={table} rows={files?.find(file => file.name === "rows.tar")} again={again} onReady={() => setTabled(true)} />} />}
      {shown.current && <div class="columns results-second">
        <div>
          <Card title={t.items}>
            {!map ? <Missing wrong={noMap} /> : map.items > 0 ? <ItemMapView map={map} names={names} tall={190} /> : <p class="calm">{t.beingPlanned}</p>}
            {!ended && Math.abs(part - p.cost_accepted / Math.max(p.cost, 1e-9)) > 0.03 && <p class="calm">{t.costsDiffer(percent(part), percent(p.cost_accepted / p.cost))}</p>}
          </Card>
          <Course p={p} history={history} wrong={noHistory} decisions={decisions ?? []} />
          <Card title={t.hostsAtWorkTitle}><Shares p={p} /></Card>
        </div>
        <div>
          <Results p={p} picture={picture} />
          <Card title={t.errors}><Errors problem={p.id} /><Aside p={p} /></Card>
          {p.state === "running" && <LiveOutput p={p} />}
          <Details p={p} again={again} />
          {!ended && <Further of={({ SuitedHosts }) => <SuitedHosts p={p} />} />}
          <Card title={t.decisions}>{decisions ? <Further of={({ Decisions }) => <Decisions decisions={decisions.slice(0, 30)} names={names} />} /> : <Missing wrong={noDecisions} />}</Card>
        </div>
      </div>}
    </>
  );
}

function Results({ p, picture }: { p: Problem; picture: LivePicture }) {
  const { made, expected, wrong, busy, fetchPartial } = picture;
  if (p.state === "finished") return <Card title={t.result}><Files files={p.results} archive={p.name} /></Card>;
  return (
    <Card title={t.resultSoFar} actions={may("operator") && p.accepted > 0 && p.state !== "stopped" && <button class="plain small" disabled={busy} onClick={fetchPartial}>{t.fetchPartial}</button>}>
      {made ? <><Files files={made.files} archive={p.name} /><p class="calm">{plural(made.items, t.ofAccepted)}</p></>
        : wrong ? <p class="calm">{wrong}</p>
        : <>{expected && <div class="img" />}<p class="calm">{p.accepted === 0 ? t.noneAccepted : t.preparing}</p></>}
    </Card>
  );
}

function LiveOutput({ p }: { p: Problem }) {
  const [shown, setShown] = useState(false);
  return (
    <Card title={t.kernelOutput} actions={<button class="plain small" aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? t.hide : t.look}</button>}>
      {shown ? <Further of={({ Output }) => <Output p={p} />} /> : <p class="calm">{t.outputHint}</p>}
    </Card>
  );
}

function Details({ p, again }: { p: Problem; again: () => void }) {
  const [changing, setChanging] = useState(false);
  const [other, setOther] = useState(false);
  const mayChange = may("operator") && !over(p.state);
  return (
    <Card title={t.details} actions={mayChange && <button class="plain small" onClick={() => setChanging(true)}>{t.changeScheduling}</button>}>
      <dl class="facts">
        <dt>{t.facts.application}</dt><dd>{p.application}{mayChange && p.state !== "stopped" && !other && <button class="link" onClick={() => setOther(true)}>{t.anotherVersion}</button>}{other && p.state !== "stopped" && <Versions p={p} again={() => { setOther(false); again(); }} />}</dd>
        <dt>{t.facts.strategy}</dt><dd>{t.strategyAndStragglers(p.strategy, p.straggler)}</dd>
        <dt>{t.facts.validation}</dt><dd>{p.validation}</dd>
        <dt>{t.facts.weight}</dt><dd>{figure(p.weight)}, {p.priority}</dd>
        <dt>{t.facts.added}</dt><dd>{time(p.created_at)}</dd>
        {p.finished_at > 0 && <><dt>{t.facts.ended}</dt><dd>{time(p.finished_at)}</dd></>}
        <dt>{t.facts.units}</dt><dd>{t.unitsSplit(count(p.units), count(p.splits))}</dd>
      </dl>
      {changing && <Further of={({ Scheduling }) => <Scheduling p={p} again={again} onClose={() => setChanging(false)} />} />}
    </Card>
  );
}

const sharesShown = 10, sharesMax = 100;

function Shares({ p }: { p: Problem }) {
  const [all, setAll] = useState(false);
  const shares = [...p.shares].sort((a, b) => b.cost - a.cost).slice(0, all ? sharesMax : sharesShown);
  const total = Math.max(p.shares_total ?? 0, p.shares.length);
  const cost = p.shares.reduce((sum, each) => sum + each.cost, 0);
  if (shares.length === 0) return <p class="calm">{t.noRequests}</p>;
  return (
    <>
      <Table label={t.hosts}>
        <thead><tr><th scope="col">{t.host}</th><th scope="col" class="n">{t.items}</th><th scope="col">{t.share}</th><th scope="col" class="n">{t.coreHoursColumn}</th><th scope="col" class="n">{t.lastContact}</th></tr></thead>
        <tbody>
          {shares.map(s => (
            <tr key={s.host}>
              <th scope="row"><a href={`#/hosts/${s.host}`}>{s.name || t.hostNumber(s.host)}</a></th>
              <td class="n">{count(s.items)}</td>
              <td><Bar part={cost > 0 ? s.cost / cost : 0} label={t.shareOf(s.name)} /></td>
              <td class="n">{coreHours(s.busy_seconds / 3600)}</td>
              <td class="n">{ago(1e6 * s.last_contact_seconds)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {total > shares.length && (!all && p.shares.length > shares.length ? <button class="link" onClick={() => setAll(true)}>{plural(total - shares.length, t.moreHosts)}</button> : <p class="calm">{t.andMoreHosts(plural(total - shares.length, t.moreHosts))}</p>)}
    </>
  );
}

function Aside({ p }: { p: Problem }) {
  const mark = /^set aside(; last: )?/;  // the server's
  const aside = p.set_aside.filter(each => mark.test(each.message));
  if (aside.length === 0) return null;
  return (
    <>
      <h3>{t.quarantinedItems}</h3>
      <ul class="errors">
        {aside.slice(0, 20).map(each => <li key={each.range.begin}>{t.itemsFromTo(count(each.range.begin), count(each.range.end - 1))}: <Prose text={each.message.replace(mark, "")} /></li>)}
      </ul>
    </>
  );
}

function Prose({ text }: { text: string }) {
  const [first, ...rest] = text.trim().split("\n");
  return rest.length ? <details><summary>{first}</summary><pre tabIndex={0}>{text}</pre></details> : <>{first}</>;
}
