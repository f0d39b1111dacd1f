// For a large screen that nobody touches: what is computed, the pictures that form, who computes what.
import { useEffect, useState } from "preact/hooks";
import { ask, type ItemMap, type Problem } from "./api";
import { Files } from "./files";
import { ItemMapView } from "./itemmap";
import { live } from "./live";
import { Heading, rich, usePolled } from "./parts";
import { useLivePicture } from "./picture";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count, done, figure, leftOf, percent, plural } from "./words";

const shownMax = 2;

export function Wall() {
  const view = live.value;
  const [full, setFull] = useState(document.fullscreenElement !== null);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", changed);
    return () => document.removeEventListener("fullscreenchange", changed);
  }, []);
  if (!view) return <><Heading>{t.wall}</Heading><p aria-busy="true">{t.waitingForServer}</p></>;
  const running = view.problems.filter(p => p.state === "running");
  const shown = running.slice(0, shownMax);
  const enter = () => void document.documentElement.requestFullscreen?.().catch(() => undefined);
  const leave = () => { if (document.fullscreenElement) void document.exitFullscreen(); };
  return (
    <div class={`wall ${full ? "full" : ""}`}>
      <div class="wall-head">
        <Heading>{view.status.name}</Heading>
        <p class="facts-line"><span>{rich(plural(view.status.hosts_active, l.hostsWord), { n: <b>{count(view.status.hosts_active)}</b> })}</span> <span>{rich(plural(view.sample.cores_busy, l.slotsWord), { n: <b>{count(view.sample.cores_busy)}</b> })}</span> <span>{rich(l.hoursWord, { n: <b>{figure(view.sample.core_hours)}</b> })}</span></p>
        <span class="buttons wall-controls"><button class="plain small" onClick={enter}>{l.fullScreen}</button><a href="#/" onClick={leave}>{l.leaveWall}</a></span>
      </div>
      {shown.length === 0 && <Idle problems={view.problems} />}
      <div class={shown.length > 1 ? "scenes two" : "scenes"}>{shown.map(p => <Scene key={p.id} problem={p} wide={shown.length === 1} />)}</div>
      {running.length > shown.length && <p class="facts-line">{l.andMoreProblems(plural(running.length - shown.length, t.moreProblems), running.slice(shownMax, shownMax + 6).map(p => `${p.name} ${percent(done(p))}`).join(", "))}</p>}
    </div>
  );
}

function Scene({ problem: p, wide }: { problem: Problem; wide: boolean }) {
  const [map, noMap] = usePolled<ItemMap>(() => ask(`/v1/admin/problems/${p.id}/map`), 2, [p.id, p.stage]);
  const [whole, noWhole] = usePolled<Problem>(() => ask(`/v1/admin/problems/${p.id}`), 5, [p.id]);
  const { made } = useLivePicture(p);
  const names = new Map((whole?.shares ?? []).map(share => [share.host, share.name]));
  const pictures = (made?.files ?? []).filter(file => file.media_type.startsWith("image/")).slice(0, 1);
  return (
    <section class={wide ? "scene wide" : "scene"} aria-label={p.name}>
      {(map || noMap) && (whole || noWhole) && <div class="told">
        <h2>{p.name}</h2>
        <p class="big">{percent(done(p))}</p>
        <progress class="whole" max={1} value={done(p)} aria-label={t.doneOf(p.name)} />
        <p>{p.waits || `${leftOf(p)}, ${plural(p.hosts, l.hostsAtWork)}`}</p>
        {pictures.length > 0 && map && map.items > 0 && <ItemMapView map={map} names={names} tall={wide ? 260 : 120} />}
      </div>}
      <div class="seen">
        {pictures.length > 0 ? <Files files={pictures} bare /> : map && (whole || noWhole) && map.items > 0 && <ItemMapView map={map} names={names} tall={420} />}
      </div>
    </section>
  );
}

// Nothing runs: what was made last, which drifts slowly.
function Idle({ problems }: { problems: Problem[] }) {
  const last = [...problems].filter(p => p.state === "finished").sort((a, b) => b.finished_at - a.finished_at).slice(0, 5);
  const [wholes] = usePolled<Problem[]>(() => Promise.all(last.map(p => ask<Problem>(`/v1/admin/problems/${p.id}`))), 0, [last.map(p => p.id).join()]);
  const pictured = (wholes ?? []).map(p => ({ p, files: p.results.filter(file => file.media_type.startsWith("image/")).slice(0, 1) })).find(each => each.files.length > 0);
  return (
    <section class="scene idle">
      <p class="big">{l.nothingRuns}</p>
      {pictured ? <><div class="seen drift"><Files files={pictured.files} bare /></div><p>{l.lastPicture(pictured.p.name)}</p></> : last.length > 0 && <p>{l.lastFinished(last[0].name)}</p>}
    </section>
  );
}
