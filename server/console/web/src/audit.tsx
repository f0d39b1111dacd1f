// Who changed what, and what was refused.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { noneAfter } from "./acts";
import { ask } from "./api";
import { Find, fits } from "./find";
import type { Act, AuditPage } from "./messages";
import { Card, Heading, Missing, rich, usePolled } from "./parts";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count, plural, time } from "./words";

const actsAsked = 1000, actsMax = 20000;  // the server's page; as many as are looked through
const named = (act: Act): string => l.actions[act.action] ?? act.action;
const actColumns = (): Column<Act>[] => [
  { id: "when", name: l.when, width: "10rem", order: act => act.number, cell: act => <button type="button" class="link" onClick={() => show({ act: `${act.number}` })}>{time(act.at)}</button> },
  { id: "who", name: l.who, width: "1.3fr", order: act => act.actor, cell: act => <>{act.actor} <span class="calm">{t.roles[act.role] ?? act.role}</span></> },
  { id: "what", name: l.what, width: "1fr", order: named, cell: named },
  { id: "target", name: l.target, width: "1.2fr", order: act => act.object, cell: act => <span title={act.object}>{act.object}</span> },
  { id: "value", name: l.newValue, width: "2.5fr", cell: act => <span title={act.summary}>{act.summary}</span> },
];
const actBrief = (act: Act) => (
  <>
    <span><span><b>{named(act)}</b> {act.object}</span><button type="button" class="link" onClick={() => show({ act: `${act.number}` })}>{time(act.at)}</button></span>
    <span><small>{act.actor}</small><small>{act.summary}</small></span>
  </>
);

// The newest are here at first, older ones as they are looked for. New ones come within a second.
function useLog() {
  const acts = useRef<Act[]>([]), start = useRef(0), asking = useRef(false);
  const [, setNews] = useState(0);
  const after = async (number: number) => (await ask<AuditPage>(`/v1/admin/audit?after=${number}`));
  const [head, wrong] = usePolled(async () => {
    const known = acts.current[acts.current.length - 1]?.number;
    let page = await after(known ?? noneAfter);
    if (known === undefined) page = await after(Math.max(page.start.number, page.head.number - actsAsked));
    start.current = page.start.number;
    acts.current = [...acts.current, ...page.acts];
    return page.head.number;
  }, 1, []);
  const [refusals] = usePolled(async () => (await after(0)).refusals, 60, []);
  const first = acts.current[0]?.number ?? 0, more = first > start.current + 1 && acts.current.length < actsMax;
  const older = () => {
    if (asking.current || !more) return;
    asking.current = true;
    after(Math.max(start.current, first - 1 - actsAsked)).then(page => { acts.current = [...page.acts.filter(act => act.number < first), ...acts.current]; setNews(first); }, () => undefined)
      .finally(() => { asking.current = false; });
  };
  return { acts: acts.current, all: (head ?? 0) - start.current, refusals, wrong, older, head };
}

export function Audit() {
  const { acts, all, refusals, wrong, older, head } = useLog();
  const columns = useMemo(actColumns, []);
  const text = query("text"), sort = query("sort"), chosen = Number(query("act", "0"));
  const shown = useMemo(() => [...acts].reverse().filter(act => fits(text, act.actor, named(act), act.action, act.object, act.summary)), [acts, text]);
  // What is looked for may be older, and another order needs all.
  useEffect(() => { if (text || !["", "-when"].includes(sort)) older(); }, [acts, text, sort]);
  if (head === undefined || refusals === undefined) return <><Heading>{l.auditLog}</Heading><Missing wrong={wrong} /></>;
  const act = acts.find(each => each.number === chosen);
  return (
    <>
      <Heading>{l.auditLog}</Heading>
      <Find label={l.actFilter}>
        <span class="calm" role="status">{acts.length < all ? l.actsOfLast(count(shown.length), count(acts.length), count(all)) : t.of(count(shown.length), plural(all, l.nChanges))}</span>
        <span class="calm">{rich(l.auditHow)}</span>
      </Find>
      {act && (
        <Card title={l.changeNumber(act.number)} wide actions={<button type="button" class="plain small" onClick={() => show({ act: "" })}>{l.closeRow}</button>}>
          <dl class="facts">
            <dt>{l.when}</dt><dd>{time(act.at)}</dd><dt>{l.who}</dt><dd>{act.actor} ({t.roles[act.role] ?? act.role})</dd><dt>{l.what}</dt><dd>{named(act)}</dd>
            <dt>{l.target}</dt><dd>{act.object || "–"}</dd><dt>{l.newValue}</dt><dd>{act.summary || "–"}</dd>
          </dl>
        </Card>
      )}
      {shown.length === 0 ? <p class="calm">{l.noChange}</p> : <Rows label={l.changes} columns={columns} rows={shown} id={each => each.number} brief={actBrief} first="-when" onEnd={older} />}
      {refusals.length > 0 && (
        <Card title={l.refused} wide>
          <ul class="errors">
            {refusals.map((r, i) => <li key={i}><b>{r.actor}</b>, {l.refusedTimes(`${l.actions[r.action] ?? r.action}: ${r.kind}`, plural(r.times, t.times), time(r.last_at), r.last_network)}</li>)}
          </ul>
        </Card>
      )}
    </>
  );
}
