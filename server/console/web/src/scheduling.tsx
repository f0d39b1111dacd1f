// Strategy, straggler rule, weight and priority of a problem.
import { change, list, type Problem } from "./api";
import type { StrategyInfo } from "./messages";
import { attempt, FormDialog, say, usePolled } from "./parts";
import { Rule } from "./rule";
import { t } from "./strings";

export function Scheduling({ p, again, onClose }: { p: Problem; again: () => void; onClose: () => void }) {
  const [strategies] = usePolled<StrategyInfo[]>(() => list("/v1/admin/strategies"), 0, []);
  const save = async (form: FormData): Promise<boolean> => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const changed = (name: "strategy" | "straggler") => (text(name) === p[name] ? "" : text(name));  // empty: as it is
    const asked: Record<string, unknown> = { strategy: changed("strategy"), straggler: changed("straggler") };
    if (Number(text("weight")) !== p.weight) asked.weight = Number(text("weight"));
    if (Number(text("priority")) !== p.priority) asked.priority = Number(text("priority"));
    if (Object.values(asked).every(value => value === "")) { say(t.nothingChanged); return true; }
    const good = await attempt(() => change(`/v1/admin/problems/${p.id}/strategy`, asked), t.schedulingSaid);
    again();
    return good !== undefined;
  };
  const of = (kinds: string[]) => (strategies ?? []).filter(s => kinds.includes(s.kind));
  return (
    <FormDialog title={t.schedulingOf(p.name)} yes={t.save} onDone={save} onClose={onClose}>
      <Rule name="strategy" label={t.strategy} now={p.strategy} all={of(["sizing", "mapping"])} recommended="gleaner" />
      <Rule name="straggler" label={t.stragglers} now={p.straggler} all={of(["straggler"])} recommended="split" />
      <label for="weight">{t.weight}</label>
      <div><input id="weight" name="weight" type="number" min="0.001" max="1000" step="any" defaultValue={`${p.weight}`} required aria-describedby="weight-hint" /><small id="weight-hint">{t.weightHint}</small></div>
      <label for="priority">{t.priority}</label>
      <div><input id="priority" name="priority" type="number" min="-8" max="8" defaultValue={`${p.priority}`} required aria-describedby="priority-hint" /><small id="priority-hint">{t.priorityHint}</small></div>
    </FormDialog>
  );
}
