// For a large screen that nobody touches: what is computed, the pictures that form, who computes what.
import { useState } from "preact/hooks";
import { ask, type ItemMap, type Problem } from "./api";
import { Files } from "./files";
import { ItemMapView } from "./itemmap";
import { live } from "./live";
import { Heading, usePolled } from "./parts";
import { useLivePicture } from "./picture";
import { count, done, figure, left, percent, plural } from "./words";

const shownMax = 2;

export function Wall() {
  const view = live.value;
  const [full, setFull] = useState(false);
  if (!view) return <p aria-busy="true">Waiting for the server …</p>;
  const running = view.problems.filter(p => p.state === "running");
  const shown = running.slice(0, shownMax);
  const enter = () => { setFull(true); void document.documentElement.requestFullscreen?.().catch(() => undefined); };
  const leave = () => { if (document.fullscreenElement) void document.exitFullscreen(); };
  return (
    <div class={`wall ${full ? "full" : ""}`}>
      <div class="head">
        <Heading>{view.status.name}</Heading>
        <p class="facts-line"><b>{count(view.status.hosts_active)}</b> {view.status.hosts_active === 1 ? "host" : "hosts"} <b>{count(view.sample.cores_busy)}</b> busy slots <b>{figure(view.sample.core_hours)}</b> core-hours</p>
        <span class="buttons wall-controls"><button class="plain small" onClick={enter}>Full screen</button><a class="calm" href="#/" onClick={leave}>Leave the wall</a></span>
      </div>
      {shown.length === 0 && <Idle problems={view.problems} />}
      <div class={shown.length > 1 ? "scenes two" : "scenes"}>{shown.map(p => <Scene key={p.id} problem={p} />)}</div>
      {running.length > shown.length && <p class="calm">and {plural(running.length - shown.length, "more problem")}: {running.slice(shownMax, shownMax + 6).map(p => `${p.name} ${percent(done(p))}`).join(", ")}</p>}
    </div>
  );
}

function Scene({ problem: p }: { problem: Problem }) {
  const [map] = usePolled<ItemMap>(() => ask(`/v1/admin/problems/${p.id}/map`), 2, [p.id, p.stage]);
  const [whole] = usePolled<Problem>(() => ask(`/v1/admin/problems/${p.id}`), 5, [p.id]);
  const { made } = useLivePicture(p);
  const names = new Map((whole?.shares ?? []).map(share => [share.host, share.name]));
  const pictures = (made?.files ?? []).filter(file => file.media_type.startsWith("image/")).slice(0, 1);
  return (
    <section class="scene" aria-label={p.name}>
      <div class="head"><h2>{p.name}</h2><span class="big">{percent(done(p))}</span></div>
      <progress class="whole" max={1} value={done(p)} aria-label={`${p.name} done`} />
      <p class="calm">{plural(p.hosts, "host")} at work, time left: {left(p)}</p>
      {pictures.length > 0 && <Files files={pictures} bare />}
      {map && map.items > 0 && <ItemMapView map={map} names={names} />}
    </section>
  );
}

// Nothing runs: what was made last.
function Idle({ problems }: { problems: Problem[] }) {
  const last = [...problems].filter(p => p.state === "finished").sort((a, b) => b.finished_at - a.finished_at)[0];
  const [whole] = usePolled<Problem | null>(() => (last ? ask<Problem>(`/v1/admin/problems/${last.id}`) : Promise.resolve(null)), 0, [last?.id]);
  return (
    <section class="scene idle">
      <p>Nothing is running right now.</p>
      {last && <><h2>Last finished: {last.name}</h2>{whole && <Files files={whole.results.filter(file => file.media_type.startsWith("image/")).slice(0, 1)} bare />}</>}
    </section>
  );
}
