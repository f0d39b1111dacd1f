// A strategy or straggler rule from a list, each by its name and a sentence.
import { useState } from "preact/hooks";
import type { StrategyInfo } from "./messages";
import { t } from "./strings";

// `now`: in force, perhaps with options of its own. `otherwise`: the words for none.
export function Rule({ name, label, now = "", all, recommended, otherwise }: { name: string; label: string; now?: string; all: StrategyInfo[]; recommended: string; otherwise?: string }) {
  const [chosen, setChosen] = useState(now);
  const known = all.map(s => s.name);
  const names = [...new Set([...known.filter(each => each === recommended), ...(now ? [now] : []), ...known])];
  const summary = (each: string) => all.find(s => s.name === each.split(",")[0])?.summary ?? "";
  const words = (each: string) => [each === recommended ? t.recommended(each) : each, summary(each)].filter(Boolean).join(": ");
  return (
    <>
      <label for={name}>{label}</label>
      <div>
        <select id={name} name={name} class="rule" value={chosen} onChange={event => setChosen(event.currentTarget.value)} aria-describedby={`${name}-hint`}>
          {otherwise && <option value="">{otherwise}</option>}
          {names.map(each => <option key={each} value={each}>{words(each)}</option>)}
        </select>
        <small id={`${name}-hint`}>{summary(chosen)}</small>
      </div>
    </>
  );
}
