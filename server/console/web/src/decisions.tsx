// What the server decided about a problem's units, with its reasons. Their kinds are words of the reader's language; the reasons are the
// server's, in English.
import type { DecisionInfo } from "./messages";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count, time } from "./words";

export function Decisions({ decisions, names }: { decisions: DecisionInfo[]; names: Map<number, string> }) {
  if (decisions.length === 0) return <p class="calm">{t.noDecisions}</p>;
  return (
    <ol class="decisions" tabIndex={0} aria-label={t.decisionsLabel}>
      {decisions.map((d, i) => (
        <li key={i}><span class="calm">{time(d.at)}</span> <b>{l.decisionKinds[d.kind] ?? d.kind}</b> {d.host > 0 && <>{t.forHost(names.get(d.host) ?? t.hostNumber(d.host))} </>}
          {d.range.end > d.range.begin && <>{t.itemsFromTo(count(d.range.begin), count(d.range.end - 1))}: </>}{d.reason}</li>
      ))}
    </ol>
  );
}
