// The audit log, the applications, and the settings.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { noneAfter, useActs } from "./acts";
import { ask, idOf, list, type Application } from "./api";
import { live } from "./live";
import type { Act, AuditPage, SettingInfo } from "./messages";
import { Card, Choice, Heading, Missing, rich, usePolled } from "./parts";
import { needsLink, query, show } from "./route";
import { Rows, type Column } from "./rows";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { bytes, count, plural, time } from "./words";

const fits = (text: string, ...words: string[]) => !text || words.join(" ").toLowerCase().includes(text.toLowerCase());
const Find = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <form class="filter" onSubmit={event => event.preventDefault()}>
    <input type="search" aria-label={label} placeholder={label} value={query("text")} onInput={event => show({ text: event.currentTarget.value })} />
    {children}
  </form>
);

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

const titleOf = (a: Application): string => a.title || a.name;
const Needs = ({ of: a }: { of: Application }) => (a.needs.length ? <a href={needsLink(a.needs)} title={a.needs.join(", ")}>{a.needs.join(", ")}</a> : <>–</>);
const applicationColumns = (): Column<Application>[] => [
  { id: "name", name: t.application, width: "minmax(14rem, 4fr)", order: titleOf, cell: a => <span title={`${titleOf(a)} ${idOf(a)}\nSHA-256 ${a.archive}`}>{titleOf(a)} <span class="calm">{idOf(a)}</span></span> },
  { id: "signer", name: l.signedBy, width: "minmax(5.5rem, 1fr)", order: a => a.signer, cell: a => a.signer },
  { id: "until", name: l.signerUntil, width: "10rem", order: a => a.signer_expires, cell: a => time(a.signer_expires) },
  { id: "platforms", name: l.platforms, width: "minmax(5.8rem, 1fr)", order: a => a.platforms.join(), cell: a => <span title={a.platforms.join(", ")}>{a.platforms.join(", ")}</span> },
  { id: "needs", name: l.needs, width: "minmax(4rem, 1fr)", order: a => a.needs.join(), cell: a => <Needs of={a} /> },
  { id: "size", name: l.size, width: "4.6rem", order: a => a.archive_bytes, cell: a => bytes(a.archive_bytes), number: true },
  { id: "added", name: t.added, width: "10rem", order: a => a.added_at, cell: a => time(a.added_at), number: true },
];
const applicationBrief = (a: Application) => <><span><span>{titleOf(a)}</span><small>{idOf(a)}</small></span><span><small>{a.signer}</small><small>{bytes(a.archive_bytes)}, {time(a.added_at)}</small></span></>;

export function Applications() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 30, [], useActs());
  const columns = useMemo(applicationColumns, []);
  const status = live.value?.status, text = query("text");
  if (!applications) return <><Heading>{l.applicationsAndKeys}</Heading><Missing wrong={wrong} /></>;
  const found = applications.filter(a => fits(text, titleOf(a), idOf(a), a.archive, a.signer, ...a.platforms, ...a.needs));
  return (
    <>
      <Heading>{l.applicationsAndKeys}</Heading>
      {applications.length > 0 && <Find label={l.applicationFilter}><span class="calm" role="status">{t.of(count(found.length), count(applications.length))}</span></Find>}
      {applications.length === 0 ? <p>{rich(l.noApplications)}</p> : found.length === 0 ? <p class="calm">{l.noApplication}</p>
        : <div class="table-rows"><Rows label={t.applications} columns={columns} rows={found} id={a => a.archive} brief={applicationBrief} first="-added" /></div>}
      {status && (
        <Card title={l.keys} wide>
          <dl class="facts">
            <dt>{l.rootKey}</dt><dd><code>{status.project}</code></dd>
            <dt>{l.workKey}</dt><dd>{l.certifiedUntil(time(status.work_certificate_expires))}</dd>
          </dl>
        </Card>
      )}
    </>
  );
}

const groupOf = (setting: SettingInfo): string => setting.name.slice(0, Math.max(0, setting.name.indexOf("."))) || "project";
// The unit stands in the name: keep_ended_days, disk_reserve_megabytes.
const units = (): [RegExp, string][] => [[/_megabytes_per_second$/, "MiB/s"], [/_megabytes$/, "MiB"], [/_seconds$/, "s"], [/_hours$/, "h"], [/_days$/, l.daysUnit], [/_requests_per_second$/, l.requestsPerSecond], [/_per_hour$/, l.perHour]];
function shown(setting: SettingInfo, value: string): string {
  const text = value === '""' || value === "" ? t.none : value === "true" ? l.yes : value === "false" ? l.no : value.replace(/^"(.*)"$/, "$1");
  const unit = /^[\d.]+$/.test(value) ? units().find(([ends]) => ends.test(setting.name))?.[1] : undefined;
  return unit ? `${/^\d+$/.test(value) ? count(Number(value)) : value} ${unit}` : text;
}
const own = (s: SettingInfo): boolean => s.name === "project.name" || s.name === "server.public_host";  // have no default that means something
const changed = (s: SettingInfo): boolean => s.default_value !== "" && s.value !== s.default_value && !own(s);

export function Settings() {
  const [settings, wrong] = usePolled<SettingInfo[]>(() => list("/v1/admin/settings"), 0, []);
  const text = query("text").toLowerCase(), only = query("changed") === "yes";
  if (!settings) return <Missing wrong={wrong} />;
  const found = settings.filter(s => (!text || `${s.name} ${s.meaning}`.toLowerCase().includes(text)) && (!only || changed(s)));
  return (
    <>
      <Heading>{t.settings}</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <input type="search" aria-label={l.nameOrMeaning} placeholder={l.nameOrMeaning} value={query("text")} onInput={event => show({ text: event.currentTarget.value })} />
        <Choice label={l.which} of={[["", l.allOf(settings.length)], ["yes", l.changedOf(settings.filter(changed).length)]]} now={only ? "yes" : ""} onChoose={value => show({ changed: value })} />
        <span class="calm">{l.settingsHow}</span>
      </form>
      {found.length === 0 && <p class="calm">{l.noSetting}</p>}
      <div class="settings">
        {[...new Set(found.map(groupOf))].map(group => (
          <Card key={group} title={l.groups[group] ?? group}>
            <dl class="settings-list">
              {found.filter(s => groupOf(s) === group).map(s => (
                <div key={s.name} class={changed(s) ? "changed" : ""}>
                  <dt><code>{s.name}</code></dt>
                  <dd><b>{shown(s, s.value)}</b>{changed(s) && <small>{l.defaultIs(shown(s, s.default_value))}</small>}</dd>{s.meaning && <dd class="meaning">{s.meaning}</dd>}
                </div>
              ))}
            </dl>
          </Card>
        ))}
      </div>
    </>
  );
}
