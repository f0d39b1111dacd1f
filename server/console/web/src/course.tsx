// A problem's progress, time left and sizes of units over one time, with one cursor. A range is chosen by name, or drawn.
import { useState } from "preact/hooks";
import type { Problem, ProblemSample } from "./api";
import { Chart, type Line } from "./chart";
import type { DecisionInfo } from "./messages";
import { Card, Choice, Missing } from "./parts";
import { t } from "./strings";
import { count, done, duration, left, over, percent } from "./words";

const spans = (): [number, string][] => [[0, t.wholeRange], [3600, "1 h"], [900, "15 min"], [300, "5 min"]];
const handedOut = ["fresh", "recover", "split", "copy", "check"];

// The past, and this moment as the rest of the page tells it.
function withNow(p: Problem, past: ProblemSample[]): ProblemSample[] {
  const at = p.started_at + 1e6 * p.elapsed_seconds;
  if (p.state !== "running" || p.started_at === 0 || at <= (past[past.length - 1]?.at ?? 0)) return past;
  return [...past, { at, stage: p.stage, done: p.cost > 0 ? p.cost_accepted / p.cost : 0, rate: p.rate, eta_seconds: p.eta_seconds, eta_low_seconds: p.eta_low_seconds, eta_high_seconds: p.eta_high_seconds }];
}

export function Course({ p, history: before, wrong, decisions }: { p: Problem; history?: ProblemSample[]; wrong: string; decisions: DecisionInfo[] }) {
  const [chosen, setChosen] = useState(0);
  const [drawn, setDrawn] = useState<[number, number] | null>(null);
  if (!before) return <Card title={t.progress}><Missing wrong={wrong} /></Card>;
  const history = withNow(p, before);
  const end = Math.max(0, ...history.map(s => s.at));
  const [from, to] = drawn ?? [chosen ? end - chosen * 1e6 : Math.min(end, ...history.map(s => s.at)), end];
  const inside = <T extends { at: number }>(list: T[]) => list.filter(each => each.at >= from && each.at <= to);
  const past = inside(history.filter(s => s.stage === p.stage));
  const guesses = inside(history);
  const told = (s: ProblemSample) => s.eta_seconds >= 0 && (s.eta_low_seconds ?? -1) >= 0;
  const line = (label: string, of: (s: ProblemSample) => number): Line => ({ label, colour: "--accent", values: guesses.map(s => (told(s) ? of(s) : null)), text: duration });
  const units = inside(decisions.filter(each => handedOut.includes(each.kind))).reverse();
  const share = { from, to, group: `problem-${p.id}`, zoom: (a: number, b: number) => setDrawn([a, b]) };
  const guessed = guesses.some(told), sized = units.length > 1;
  return (
    <Card title={t.progress} actions={<Choice label={t.timeRange} of={spans()} now={drawn ? null : chosen} onChoose={span => { setDrawn(null); setChosen(span); }} />}>
      {past.length < 2 ? <p class="calm">{over(p.state) ? t.noCurves : t.curvesSoon}</p> : (
        <>
          <Chart title={p.stage_name || p.stage > 0 ? t.doneOfStage(p.stage + 1) : t.doneName} at={past.map(s => s.at)} top={1} share={share} clockless={guessed || sized} now={p.stage_name || p.stage > 0 || drawn ? undefined : percent(done(p))}
            lines={[{ label: t.doneName, colour: "--good", area: true, values: past.map(s => s.done), text: percent }]} />
          {guessed && <Chart title={t.timeLeftInterval} band at={guesses.map(s => s.at)} share={share} clockless={sized} now={drawn ? undefined : p.waits ? t.notStarted : left(p)}
            lines={[line(t.left, s => s.eta_seconds), line(t.atLeast, s => s.eta_low_seconds!), line(t.atMost, s => s.eta_high_seconds!)]} />}
          {sized && <Chart title={t.unitSizes} at={units.map(each => each.at)} share={share} height={110} lines={[
            { label: t.itemsLine, colour: "--accent", values: units.map(each => each.range.end - each.range.begin), text: count }]} />}
        </>
      )}
    </Card>
  );
}
