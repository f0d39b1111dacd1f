// What the owner allows, each by the control that suits its kind.
import { useState } from "preact/hooks";
import { attempt, Missing, say, usePolled } from "../parts";
import { ask, type Preference } from "./client";
import { dayNames, days, hoursOf, textsOf, type Week } from "./hours";
import { Levels } from "./levels";

const elsewhere = ["project_shares", "projects_suspended"];  // the projects' own sliders

const never = ["expensive_hours", "night_hours"];  // hours of which none mean: never

const listOf = (value: string): string[] => {
  try { const list = JSON.parse(value); return Array.isArray(list) ? list : []; } catch { return []; }
};
const plain = (value: string): string => { try { return String(JSON.parse(value)); } catch { return value; } };
// What it means to people who never see the file.
const words = (meaning: string): string => meaning.replace(/,? for example \[[^\]]*\]/g, "").replace(/, written like hours/g, "");

interface Control { one: Preference; set: (value: string) => void }

function Switch({ one, set }: Control) {
  return <input id={`preference-${one.key}`} type="checkbox" role="switch" checked={one.value === "true"} disabled={one.locked} onChange={e => set(String(e.currentTarget.checked))} />;
}

function Slider({ one, set }: Control) {
  const share = one.kind === "share";
  const [at, setAt] = useState(share ? Math.round(100 * Number(one.value)) : Number(one.value));
  const said = share ? `${at} %` : at === 0 ? "all" : `${at} of ${one.high}`;
  return (
    <span class="slider">
      <input id={`preference-${one.key}`} type="range" min={share ? Math.ceil(100 * one.low) : 0} max={share ? 100 * one.high : one.high} step={1} value={at} disabled={one.locked}
        aria-valuetext={said} onInput={e => setAt(Number(e.currentTarget.value))} onChange={e => set(share ? String(Number(e.currentTarget.value) / 100) : e.currentTarget.value)} />
      <output for={`preference-${one.key}`}>{said}</output>
    </span>
  );
}

function Choice({ one, set }: Control) {
  return (
    <select id={`preference-${one.key}`} value={plain(one.value)} disabled={one.locked} onChange={e => set(e.currentTarget.value)}>
      {[...new Set([...one.words, plain(one.value)])].map(word => <option key={word}>{word}</option>)}
    </select>
  );
}

function Text({ one, set }: Control) {
  const list = one.kind === "names" || one.kind === "hours";
  const common = { id: `preference-${one.key}`, autocomplete: "off", disabled: one.locked } as const;
  if (one.kind === "number" || one.kind === "count")
    return <input {...common} type="number" min={one.low} max={one.high} step={one.kind === "count" ? 1 : "any"} defaultValue={one.value} onChange={e => set(e.currentTarget.value)} />;
  return (
    <input {...common} type="text" defaultValue={list ? listOf(one.value).join(", ") : plain(one.value)}
      onChange={e => set(list ? JSON.stringify(e.currentTarget.value.split(",").map(name => name.trim()).filter(Boolean)) : e.currentTarget.value)} />
  );
}

// A week, hour by hour. Arrow keys move, space changes; a row's name changes the whole day.
function Hours({ one, set, week }: Control & { week: Week }) {
  const empty = !never.includes(one.key);  // what no hours at all mean: at any hour, or never
  const word = empty ? "allowed" : one.key === "night_hours" ? "night" : "expensive";
  const change = (cells: [number, number][], on: boolean) => {
    const changed = week.map(row => [...row]);
    for (const [day, hour] of cells) changed[day][hour] = on;
    const texts = textsOf(changed, empty);
    if (texts.length === 0 && !changed[0][0] && empty) return say("Without any hour it would never compute: choose “never” above.", true);
    set(JSON.stringify(texts));
  };
  const move = (event: KeyboardEvent, day: number, hour: number) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const table = (event.currentTarget as HTMLElement).closest("table")!;
    table.querySelectorAll<HTMLElement>("td button")[((day + step[0] + 7) % 7) * 24 + ((hour + step[1] + 24) % 24)].focus();
  };
  return (
    <table class="hours" aria-label={one.label}>
      <thead><tr><td />{week[0].map((_, hour) => <th scope="col" key={hour}>{hour % 6 === 0 ? hour : <span class="unseen">{hour}</span>}</th>)}</tr></thead>
      <tbody>
        {week.map((row, day) => (
          <tr key={day}>
            <th scope="row"><button type="button" class="plain" disabled={one.locked} aria-label={`${days[day]}: all of ${dayNames[day]}`}
              onClick={() => change(row.map((_, hour) => [day, hour]), !row.every(Boolean))}>{days[day]}</button></th>
            {row.map((on, hour) => (
              <td key={hour}><button type="button" aria-pressed={on} disabled={one.locked} tabIndex={day === 0 && hour === 0 ? 0 : -1} title={`${dayNames[day]} ${hour}:00`}
                aria-label={`${dayNames[day]} ${hour}:00 ${word}`} onKeyDown={e => move(e, day, hour)} onClick={() => change([[day, hour]], !on)} /></td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Row({ one, all, changed }: { one: Preference; all: Preference[]; changed: () => void }) {
  const valueOf = (key: string) => plain(all.find(other => other.key === key)?.value ?? "");
  const set = async (value?: string) => {
    await attempt(() => ask("preferences", { key: one.key, value }), `${one.label}: saved`);
    changed();  // what holds now, also if it was refused
  };
  const own = !one.locked && !one.protects && one.key !== "preset" && one.origin.endsWith("preferences.toml");
  const week = one.kind === "hours" ? hoursOf(listOf(one.value), !never.includes(one.key)) : null;
  const control = { one, set };
  return (
    <div class="preference">
      {week || one.kind === "levels" ? <span>{one.label}</span> : <label for={`preference-${one.key}`}>{one.label}</label>}
      {one.kind === "flag" ? <Switch {...control} /> : one.kind === "choice" ? <Choice {...control} />
        : one.kind === "share" || (one.key === "cores" && one.high > 1) ? <Slider {...control} />
        : one.kind === "levels" ? <Levels texts={listOf(one.value)} cores={all.find(other => other.key === "cores")?.high ?? 1} locked={one.locked} set={set}
          usual={{ used: valueOf("run") === "always", idle: true, night: true, battery: valueOf("on_battery") === "true" }} />
        : week ? <Hours {...control} week={week} /> : <Text {...control} />}
      <span class="from calm">{words(one.meaning)} {one.protects ? `Change it in a terminal: gleaner prefs set ${one.key} VALUE.` : one.locked ? "Locked by the administrator." : one.origin === "default" || own ? "" : `From: ${one.origin}.`}
        {own && <> You set it. <button type="button" class="plain" aria-label={`reset ${one.label}`} onClick={() => set()}>Reset</button></>}</span>
    </div>
  );
}

export function Preferences() {
  const [turn, setTurn] = useState(0);
  // With the turn in which they were asked for: rows start anew when the values are there, not before. A table of hours has
  // nothing of its own to begin with, and keeps the focus.
  const [loaded, wrong] = usePolled(async () => ({ all: await ask<Preference[]>("preferences"), turn }), 0, [turn]);
  if (!loaded) return <Missing wrong={wrong} />;
  const { all } = loaded;
  const shown = all.filter(one => !elsewhere.includes(one.key)).map(one => ({ ...one, locked: one.locked || one.protects }));
  const groups = [...new Set(shown.map(one => one.group))];
  return (
    <>
      {groups.map((group, index) => (
        <details key={group} open={index === 0}>
          <summary>{group}</summary>
          {shown.filter(one => one.group === group).map(one => <Row key={one.kind === "hours" ? one.key : `${one.key} ${one.value} ${loaded.turn}`} one={one} all={all} changed={() => setTurn(turn + 1)} />)}
        </details>
      ))}
    </>
  );
}
