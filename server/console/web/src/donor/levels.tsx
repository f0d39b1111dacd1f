// How much of this computer kernels may use in each situation: one preference, shown as a table of sliders.
import { useState } from "preact/hooks";

export interface Level { on: boolean; cores: number; share: number; degrees: string; rpm: string }  // cores 0: all; degrees, rpm "": as set elsewhere
const situations = ["used", "idle", "night", "battery"] as const;
type Situation = (typeof situations)[number];
const titles: Record<Situation, string> = { used: "While in use", idle: "While idle", night: "At night", battery: "On battery power" };
// Whether each is computed in where no text says so.
export type Usual = Record<Situation, boolean>;

export function levelsOf(texts: string[], usual: Usual): Record<Situation, Level> {
  const all = Object.fromEntries(situations.map(one => [one, { on: usual[one], cores: 0, share: 100, degrees: "", rpm: "" }])) as Record<Situation, Level>;
  for (const text of texts) {
    const [name, ...limits] = text.trim().split(/\s+/);
    if (!situations.includes(name as Situation)) continue;
    all[name as Situation] = {
      on: limits[0] !== "off", cores: Number(/(\d+) cores?/.exec(text)?.[1] ?? 0), share: Number(/([\d.]+)%/.exec(text)?.[1] ?? 100), degrees: /([\d.]+)C/.exec(text)?.[1] ?? "",
      rpm: /([\d.]+)rpm/.exec(text)?.[1] ?? "",
    };
  }
  return all;
}

// The texts with that of one situation changed; the others stay as they are.
export function withLevel(texts: string[], one: Situation, { on, cores, share, degrees, rpm }: Level, usual: Usual): string[] {
  const limits = [cores > 0 && `${cores} core${cores > 1 ? "s" : ""}`, share < 100 && `${share}%`, degrees && `${degrees}C`, rpm && `${rpm}rpm`].filter(Boolean);
  const text = !on ? "off" : limits.length > 0 ? limits.join(" ") : "100%";
  const needed = on !== usual[one] || (on && limits.length > 0);
  return [...texts.filter(other => other.trim().split(/\s+/)[0] !== one), ...(needed ? [`${one} ${text}`] : [])];
}

interface Props { texts: string[]; usual: Usual; cores: number; locked: boolean; set: (value: string) => void }

export function Levels({ texts, usual, cores, locked, set }: Props) {
  const [levels, setLevels] = useState(levelsOf(texts, usual));
  const changed = (one: Situation, part: Partial<Level>) => ({ ...levels, [one]: { ...levels[one], ...part } });
  const save = (one: Situation, part: Partial<Level>) => {
    const next = changed(one, part);
    setLevels(next);
    set(JSON.stringify(withLevel(texts, one, next[one], usual)));
  };
  return (
    <table class="levels" aria-label="Levels">
      <thead><tr><th scope="col">Situation</th><th scope="col">Compute</th><th scope="col">Cores</th><th scope="col">Of each core</th><th scope="col">Highest °C</th><th scope="col">Highest fan rpm</th></tr></thead>
      <tbody>
        {situations.map(one => {
          const { on, cores: most, share, degrees, rpm } = levels[one];
          const off = locked || !on, id = `level-${one}`, words = most === 0 || most >= cores ? "all" : `${most} of ${cores}`;
          return (
            <tr key={one}>
              <th scope="row">{titles[one]}</th>
              <td><input id={id} type="checkbox" role="switch" checked={on} disabled={locked} aria-label={`${titles[one]}: compute`} onChange={e => save(one, { on: e.currentTarget.checked })} /></td>
              <td><span class="slider">
                <input id={`${id}-cores`} type="range" min={1} max={cores} value={most === 0 ? cores : most} disabled={off || cores < 2} aria-label={`${titles[one]}: cores`} aria-valuetext={words}
                  onInput={e => setLevels(changed(one, { cores: Number(e.currentTarget.value) % cores }))} onChange={e => save(one, { cores: Number(e.currentTarget.value) % cores })} />
                <output for={`${id}-cores`}>{words}</output></span></td>
              <td><span class="slider">
                <input id={`${id}-share`} type="range" min={5} max={100} step={5} value={share} disabled={off} aria-label={`${titles[one]}: share of each core`} aria-valuetext={`${share} %`}
                  onInput={e => setLevels(changed(one, { share: Number(e.currentTarget.value) }))} onChange={e => save(one, { share: Number(e.currentTarget.value) })} />
                <output for={`${id}-share`}>{share} %</output></span></td>
              <td><input id={`${id}-degrees`} type="number" min={30} max={110} value={degrees} disabled={off} placeholder="°C as below" aria-label={`${titles[one]}: highest temperature`}
                onChange={e => save(one, { degrees: e.currentTarget.value })} /></td>
              <td><input id={`${id}-rpm`} type="number" min={100} max={40000} value={rpm} disabled={off} placeholder="rpm as below" aria-label={`${titles[one]}: highest fan speed`}
                onChange={e => save(one, { rpm: e.currentTarget.value })} /></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
