// For a large screen that nobody touches: what is computed, the pictures that form, who computes what.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type ItemMap, type Problem } from "./api";
import { Files } from "./files";
import { ItemMapView } from "./itemmap";
import { live } from "./live";
import { Heading, rich, usePolled } from "./parts";
import { useLivePicture } from "./picture";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { coreHours, count, done, leftOf, percent, plural } from "./words";

const shownMax = 2, turnSeconds = 20;
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Those that were shown longest ago come next, of these first those that hosts compute now. One that is computed is always among them.
// They stay for a turn, as long as they run.
function useShown(running: Problem[]): Problem[] {
  const [turn, setTurn] = useState(0);
  const shown = useRef<number[]>([]), since = useRef(-1), last = useRef(new Map<number, number>());
  useEffect(() => {
    const timer = window.setInterval(() => { if (!still.matches) setTurn(now => now + 1); }, turnSeconds * 1000);
    return () => clearInterval(timer);
  }, []);
  const there = () => running.filter(p => shown.current.includes(p.id));
  const idle = there().every(p => p.hosts === 0) && running.some(p => p.hosts > 0);
  if (since.current !== turn || idle || there().length < Math.min(shownMax, running.length)) {
    const order = (p: Problem) => 2 * (last.current.get(p.id) ?? -1) + (p.hosts > 0 ? 0 : 1);
    const next = [...running].sort((a, b) => order(a) - order(b));
    const computed = next.find(p => p.hosts > 0);
    const chosen = next.slice(0, shownMax);
    if (computed && !chosen.includes(computed)) chosen[chosen.length - 1] = computed;
    shown.current = chosen.map(p => p.id);
    since.current = turn;
    for (const id of shown.current) last.current.set(id, turn);
  }
  return there().sort((a, b) => Number(b.hosts > 0) - Number(a.hosts > 0));
}

export function Wall() {
  const view = live.value;
  const [full, setFull] = useState(document.fullscreenElement !== null);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement !== null);
    document.addEventListener("fullscreenchange", changed);
    return () => document.removeEventListener("fullscreenchange", changed);
  }, []);
  const running = (view?.problems ?? []).filter(p => p.state === "running");
  const shown = useShown(running);
  if (!view) return <><Heading>{t.wall}</Heading><p aria-busy="true">{t.waitingForServer}</p></>;
  const rest = running.filter(p => !shown.includes(p));
  const enter = ({ currentTarget: button }: { currentTarget: HTMLElement }) => {
    button.blur();  // the controls are seen while they have the focus
    void document.documentElement.requestFullscreen?.().catch(() => undefined);
  };
  const leave = () => { if (document.fullscreenElement) void document.exitFullscreen(); };
  return (
    <div class={`wall ${full ? "full" : ""}`}>
      <div class="wall-head">
        <Heading>{view.status.name}</Heading>
        <p class="facts-line"><span>{rich(plural(view.status.hosts_active, l.hostsWord), { n: <b>{count(view.status.hosts_active)}</b> })}</span> <span>{rich(plural(view.sample.cores_busy, l.slotsWord), { n: <b>{count(view.sample.cores_busy)}</b> })}</span> <span>{rich(l.hoursWord, { n: <b>{coreHours(view.sample.core_hours)}</b> })}</span></p>
        <span class="buttons wall-controls"><button class="plain small" onClick={enter}>{l.fullScreen}</button><a href="#/" onClick={leave}>{l.leaveWall}</a></span>
      </div>
      {shown.length === 0 && <Idle problems={view.problems} />}
      <div class={shown.length > 1 ? "scenes two" : "scenes"}>{shown.map(p => <Scene key={p.id} problem={p} wide={shown.length === 1} />)}</div>
      {rest.length > 0 && <p class="facts-line">{l.andMoreProblems(plural(rest.length, t.moreProblems), rest.slice(0, 6).map(p => `${p.name} ${percent(done(p))}`).join(", "))}</p>}
    </div>
  );
}

function Scene({ problem: p, wide }: { problem: Problem; wide: boolean }) {
  const [map, noMap] = usePolled<ItemMap>(() => ask(`/v1/admin/problems/${p.id}/map`), 5, [p.id, p.stage], `${p.accepted} ${p.units} ${p.open_units}`);
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
