import { useActs } from "./acts";
import { ask, list, type Application } from "./api";
import { live } from "./live";
import type { AuditPage, SettingInfo } from "./messages";
import { Card, Choice, Heading, Missing, rich, Table, usePolled } from "./parts";
import { needsLink, query, show } from "./route";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { bytes, count, plural, time } from "./words";

const actsShown = 200;

export function Audit() {
  const [log, wrong] = usePolled(async () => {
    const first = await ask<AuditPage>("/v1/admin/audit?after=0");
    if (first.head.number <= actsShown) return { acts: first.acts, refusals: first.refusals };
    const last = await ask<AuditPage>(`/v1/admin/audit?after=${first.head.number - actsShown}`);
    return { acts: last.acts, refusals: first.refusals };
  }, 10, [], useActs());
  if (!log) return <Missing wrong={wrong} />;
  return (
    <>
      <Heading>{l.auditLog}</Heading>
      <Card title={l.changesNewest} wide>
        <Table label={l.changes}>
          <thead><tr><th scope="col">{l.when}</th><th scope="col">{l.who}</th><th scope="col">{l.what}</th><th scope="col">{l.target}</th><th scope="col">{l.newValue}</th></tr></thead>
          <tbody>
            {[...log.acts].reverse().map(act => (
              <tr key={act.number}><td class="stamp">{time(act.at)}</td><td>{act.actor} <span class="calm">{t.roles[act.role] ?? act.role}</span></td><td>{l.actions[act.action] ?? act.action}</td><td>{act.object}</td><td class="long">{act.summary}</td></tr>
            ))}
          </tbody>
        </Table>
        <p class="calm">{rich(l.auditHow)}</p>
      </Card>
      {log.refusals.length > 0 && (
        <Card title={l.refused} wide>
          <ul class="errors">
            {log.refusals.map((r, i) => <li key={i}><b>{r.actor}</b>, {l.refusedTimes(`${l.actions[r.action] ?? r.action}: ${r.kind}`, plural(r.times, t.times), time(r.last_at), r.last_network)}</li>)}
          </ul>
        </Card>
      )}
    </>
  );
}

export function Applications() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 30, [], useActs());
  const status = live.value?.status;
  if (!applications) return <Missing wrong={wrong} />;
  return (
    <>
      <Heading>{l.applicationsAndKeys}</Heading>
      <Card title={t.applications} wide>
        {applications.length === 0 ? <p>{rich(l.noApplications)}</p> : (
          <Table label={t.applications}>
            <thead><tr><th scope="col">{t.application}</th><th scope="col">{l.signedBy}</th><th scope="col">{l.platforms}</th><th scope="col">{l.needs}</th><th scope="col" class="n">{l.size}</th><th scope="col">{t.added}</th><th scope="col">SHA-256</th></tr></thead>
            <tbody>
              {applications.map(a => (
                <tr key={a.archive}>
                  <th scope="row">{a.title || a.name}<br /><span class="calm">{a.name}@{a.application_version}</span></th>
                  <td>{a.signer}{a.signer_expires ? <><br /><span class="calm">{l.until(time(a.signer_expires))}</span></> : null}</td><td>{a.platforms.join(", ")}</td><td>{a.needs.length ? <a href={needsLink(a.needs)}>{a.needs.join(", ")}</a> : "–"}</td><td class="n">{bytes(a.archive_bytes)}</td><td>{time(a.added_at)}</td><td><code>{a.archive.slice(0, 16)}…</code></td>
                </tr>
              ))}
            </tbody>
          </Table>
        )}
      </Card>
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
const changed = (s: SettingInfo): boolean => s.default_value !== "" && s.value !== s.default_value;
const own = (s: SettingInfo): boolean => s.name === "project.name" || s.name === "server.public_host";  // have no default that means something

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
                <div key={s.name} class={changed(s) && !own(s) ? "changed" : ""}>
                  <dt><code>{s.name}</code></dt>
                  <dd><b>{shown(s, s.value)}</b>{changed(s) && !own(s) && <small>{l.defaultIs(shown(s, s.default_value))}</small>}</dd>{s.meaning && <dd class="meaning">{s.meaning}</dd>}
                </div>
              ))}
            </dl>
          </Card>
        ))}
      </div>
    </>
  );
}
