// The owner's page about the client on this computer.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { attempt, Bar, Card, Figure, Said, usePolled } from "../parts";
import { duration, figure, percent, plural } from "../words";
import { ask, picture, status, type Day, type PictureAbout, type Project, type Slot, type Status } from "./client";
import { Preferences } from "./preferences";
import "../style.css";
import "./donor.css";

const energyText = (kwh: number): string => (kwh > 0 && kwh < 0.1 ? `${figure(1000 * kwh)}\u00a0Wh` : `${figure(kwh)}\u00a0kWh`);
const and = (list: string[]): string => (list.length < 2 ? list.join() : `${list.slice(0, -1).join(", ")} and ${list[list.length - 1]}`);
const computers = { one: "# computer", other: "# computers" };
const firstLine = (text: string): string => text.trim().split("\n")[0];

// What it does, for somebody who never heard of cores: a sentence.
export function headline(s: Status): string {
  const busy = s.slots.filter(slot => slot.state === "running" && slot.problem);
  const why = firstLine(s.reason.replace(/^[^:]*: /, ""));
  if (s.mode !== "pause" && busy.length > 0) {
    const projects = [...new Set(busy.map(slot => slot.project).filter(Boolean))];
    return `This computer is helping ${and(projects.length > 0 ? projects : [s.project_name])}: it is computing ${and([...new Set(busy.map(slot => slot.problem))])}.`;
  }
  if (s.reason.startsWith("not computing yet")) return `This computer is getting ready: ${why}.`;
  return `This computer is not computing: ${why}.`;
}

function Picture() {
  const [about, setAbout] = useState<PictureAbout | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = useRef("");
  const [now] = usePolled(() => ask<PictureAbout | null>("picture/about"), 2, []);
  useEffect(() => {
    if (!now || shown.current === `${now.number} ${now.change}`) return;
    picture().then(found => {
      if (!found) return;
      setAbout(found.about);
      shown.current = `${found.about.number} ${found.about.change}`;
      requestAnimationFrame(() => {
        const node = canvas.current;
        if (!node) return;
        const { width, height } = found.about;
        node.width = width;
        node.height = height;
        const image = new ImageData(width, height);
        for (let i = 0; i < width * height; ++i) {
          image.data.set(found.pixels.subarray(3 * i, 3 * i + 3), 4 * i);
          image.data[4 * i + 3] = 255;
        }
        node.getContext("2d")!.putImageData(image, 0, 0);
      });
    }, () => undefined);  // it changed meanwhile: the next look has it
  }, [now]);
  if (!about) return null;
  return (
    <Card title="Live picture" wide>
      <canvas ref={canvas} id="picture" class="picture" role="img" aria-label={`the picture of ${about.problem}, as far as this computer has computed it`} />
      <p class="calm">{about.problem}{about.application && `: ${about.application}`}</p>
    </Card>
  );
}

const state = (slot: Slot): string => (slot.state === "running" ? "computing" : slot.state === "idle" ? "idle" : slot.state);

function Now({ s }: { s: Status }) {
  return (
    <Card title="Now">
      <ul class="cores" id="work">
        {s.slots.map(slot => (
          <li key={slot.slot}>
            <span>Core {slot.slot + 1}: {state(slot)}{slot.problem && ` (${slot.problem})`}</span>
            {slot.unit > 0 && <Bar part={Math.min(1, (slot.finished - slot.begin) / Math.max(1, slot.end - slot.begin))} label={`core ${slot.slot + 1}`} />}
            {slot.remaining_seconds > 0 && <span class="calm">{duration(slot.remaining_seconds)} left</span>}
          </li>
        ))}
      </ul>
      <ul id="together" class="plain-list" aria-label="Contributed by all computers">
        {s.problems.map(p => <li key={p.name}>All computers: {percent(p.done)} of {p.name}{p.hosts > 0 && <>, by {plural(p.hosts, computers)}</>}</li>)}
      </ul>
    </Card>
  );
}

const weeksShown = 12, barHeight = 90;
const sum = (days: Day[], of: (day: Day) => number): number => days.reduce((all, day) => all + of(day), 0);
const hours = (days: Day[]): number => sum(days, day => day.core_seconds) / 3600;
const energy = (days: Day[]): number => sum(days, day => day.joules) / 3.6e6;

function Contributed({ s }: { s: Status }) {
  const today = Math.floor(Date.now() / 86_400_000);
  const weekOf = (day: number) => Math.floor((day + 3) / 7);  // 1970 began with a Thursday: weeks begin on Mondays
  const weeks = [...Array(weeksShown).keys()].map(i => {
    const number = weekOf(today) - weeksShown + 1 + i;
    const days = s.days.filter(each => weekOf(each.day) === number);
    return { begins: new Date((number * 7 - 3) * 86_400_000), hours: hours(days), energy: energy(days) };
  });
  const most = Math.max(...weeks.map(week => week.hours), 1e-9);
  const name = (begins: Date) => begins.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  const watts = energy(s.days) > 0;
  const last = s.days.filter(each => each.day > today - 7);
  const told = (days: Day[]) => (hours(days) < 1 ? duration(3600 * hours(days)) : `${figure(hours(days))} h`) + (watts ? ` · ${energyText(energy(days))}` : "");
  return (
    <Card title="Contributed by this computer">
      <dl class="figures">
        <Figure name="of a core today" value={told(s.days.filter(each => each.day === today))} />
        <Figure name="in seven days" value={told(last)} />
        <Figure name="in a year" value={told(s.days)} />
      </dl>
      {s.days.length > 0 && (
        <figure>
          <figcaption>core-hours a week</figcaption>
          <svg class="weeks" viewBox={`0 0 ${weeksShown * 10} ${barHeight}`} preserveAspectRatio="none" role="img" aria-label={`core-hours of the last ${weeksShown} weeks: ${weeks.map(week => figure(week.hours)).join(", ")}`}>
            {weeks.map((week, i) => (
              <rect key={i} x={i * 10 + 1} width={8} y={barHeight - Math.max(1, (barHeight * week.hours) / most)} height={Math.max(1, (barHeight * week.hours) / most)}>
                <title>{`week of ${name(week.begins)}: ${figure(week.hours)} core-hours${watts ? `, ${energyText(week.energy)}` : ""}`}</title>
              </rect>
            ))}
          </svg>
          <p class="ends calm"><span>{name(weeks[0].begins)}</span><span>this week</span></p>
        </figure>
      )}
      {!watts && <p class="calm">Enter the “Watts of a core” below to see the energy.</p>}
    </Card>
  );
}

function ProjectRow({ project: p, all, changed }: { project: Project; all: Project[]; changed: () => void }) {
  const [share, setShare] = useState(p.share);
  const whole = all.reduce((total, other) => total + (other.suspended ? 0 : other.key === p.key ? share : other.share), 0);
  const words = p.suspended ? "suspended" : share === 0 ? "no new work" : all.length === 1 ? "all of it" : `${percent(whole > 0 ? share / whole : 0)} of this computer`;
  const set = async (body: object) => { await attempt(() => ask<{ message: string }>("projects", { key: p.key, ...body }), `${p.name}: saved`); changed(); };
  return (
    <div class="preference membership">
      <label for={`share-${p.key}`}>{p.name}</label>
      <span class="slider">
        <input id={`share-${p.key}`} type="range" min={0} max={Math.max(10, p.share)} step={1} value={share} disabled={p.suspended} aria-valuetext={words}
          onInput={e => setShare(Number(e.currentTarget.value))} onChange={e => set({ share: Number(e.currentTarget.value) })} />
        <output for={`share-${p.key}`}>{words}</output>
      </span>
      <span class="from calm">{p.server}. {p.state}{all.length > 1 && `; recently ${percent(p.recent_part)}`}
        <label class="inline"><input type="checkbox" role="switch" checked={!p.suspended} onChange={e => set({ suspended: !e.currentTarget.checked })} /> compute for it</label>
      </span>
    </div>
  );
}

// Seconds from now to the next such time of the day.
function secondsUntil(time: string): number {
  const then = new Date(), [hour, minute] = time.split(":").map(Number);
  then.setHours(hour, minute, 0, 0);
  if (then.getTime() <= Date.now()) then.setDate(then.getDate() + 1);
  return Math.max(1, Math.round((then.getTime() - Date.now()) / 1000));
}

function Until({ pause }: { pause: (seconds: number) => void }) {
  const [time, setTime] = useState("18:00");
  return (
    <span class="until">
      <button id="pause-until" class="plain" disabled={!time} onClick={() => pause(secondsUntil(time))}>Pause until</button>
      <input id="until" type="time" aria-label="Time until which it pauses" value={time} onInput={e => setTime(e.currentTarget.value)} />
    </span>
  );
}

function Log() {
  const [open, setOpen] = useState(false);
  const [log, wrong] = usePolled(() => (open ? ask<{ log: string[] }>("log").then(found => found.log.join("\n")) : Promise.resolve("")), open ? 3 : 0, [open]);
  return (
    <details id="log-details" onToggle={e => setOpen((e.currentTarget as HTMLDetailsElement).open)}>
      <summary>The client's last messages</summary>
      <pre id="log" role="region" tabIndex={0} aria-label="Last messages">{wrong || log}</pre>
    </details>
  );
}

function Page() {
  const [s, wrong, again] = usePolled<Status>(status, 2, []);
  const command = (body: object, good: string) => attempt(() => ask("command", body), good).then(again);
  return (
    <>
      <main class="donor">
        <p class="calm">Gleaner {s && `on ${s.host_name}`}</p>
        <h1 id="sentence" aria-live="polite">{s && !wrong ? headline(s) : wrong || "Asking the client …"}</h1>
        <div class="buttons" role="group" aria-label="Controls">
          <button id="pause" onClick={() => command({ command: "pause", seconds: 3600 }, "Paused for an hour.")}>Pause for an hour</button>
          <button id="resume" class="plain" onClick={() => command({ command: "resume" }, "Resumed. It computes as your preferences allow.")}>Resume</button>
          <button id="finish" class="plain" onClick={() => command({ command: "finish" }, "It finishes its current work and fetches no more.")}>Finish current work</button>
          <Until pause={seconds => command({ command: "pause", seconds }, "Paused until then.")} />
          <button id="pause-saved" class="plain" onClick={() => command({ command: "pause", at_saved_point: true }, "Each core stops when its work is saved.")}>Pause when saved</button>
        </div>
        {s && (
          <>
            <details><summary>Details</summary><p id="reason">{firstLine(s.reason)}</p><ul id="why">{s.details.map(detail => <li key={detail}>{detail}</li>)}</ul></details>
            <div class="cards">
              <Picture />
              <Now s={s} />
              <Contributed s={s} />
              <Card title={s.projects.length > 1 ? "Projects and their shares" : "Project"} wide>
                {s.projects.map(project => <ProjectRow key={`${project.key} ${project.share} ${project.suspended}`} project={project} all={s.projects} changed={again} />)}
              </Card>
            </div>
          </>
        )}
        <div class="cards"><Card title="Preferences" wide><Preferences /></Card><Card title="Log" wide><Log /></Card></div>
      </main>
      <Said />
    </>
  );
}

render(<Page />, document.getElementById("page")!);
