import { ask, list, type Application } from "./api";
import { live } from "./live";
import type { AuditPage, SettingInfo } from "./messages";
import { Card, Choice, Heading, Missing, Table, usePolled } from "./parts";
import { query, show } from "./route";
import { bytes, count, time } from "./words";

const actsShown = 200;

export function Audit() {
  const [log, wrong] = usePolled(async () => {
    const first = await ask<AuditPage>("/v1/admin/audit?after=0");
    if (first.head.number <= actsShown) return { acts: first.acts, refusals: first.refusals };
    const last = await ask<AuditPage>(`/v1/admin/audit?after=${first.head.number - actsShown}`);
    return { acts: last.acts, refusals: first.refusals };
  }, 0, []);
  if (!log) return <Missing wrong={wrong} />;
  return (
    <>
      <Heading>Audit log</Heading>
      <Card title="Changes, the newest first" wide>
        <Table label="Changes">
          <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Target</th><th scope="col">New value</th></tr></thead>
          <tbody>
            {[...log.acts].reverse().map(act => (
              <tr key={act.number}><td>{time(act.at)}</td><td>{act.actor} <span class="calm">{act.role}</span></td><td>{act.action}</td><td>{act.object}</td><td>{act.summary}</td></tr>
            ))}
          </tbody>
        </Table>
        <p class="calm">Run <code>gleaner-admin audit list</code> for the full log and <code>audit verify</code> to check its integrity.</p>
      </Card>
      {log.refusals.length > 0 && (
        <Card title="Refused attempts" wide>
          <ul class="errors">
            {log.refusals.map((r, i) => <li key={i}><b>{r.actor}</b>, {r.action}: {r.kind} {count(r.times)} times, last {time(r.last_at)} from {r.last_network}</li>)}
          </ul>
        </Card>
      )}
    </>
  );
}

export function Applications() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, []);
  const status = live.value?.status;
  if (!applications) return <Missing wrong={wrong} />;
  return (
    <>
      <Heading>Applications and keys</Heading>
      <Card title="Applications" wide>
        {applications.length === 0 ? <p>No applications yet. Add one with <code>gleaner-admin app add</code>.</p> : (
          <Table label="Applications">
            <thead><tr><th scope="col">Application</th><th scope="col">Signed by</th><th scope="col">Platforms</th><th scope="col" class="n">Size</th><th scope="col">Added</th><th scope="col">SHA-256</th></tr></thead>
            <tbody>
              {applications.map(a => (
                <tr key={a.archive}>
                  <th scope="row">{a.title || a.name}<br /><span class="calm">{a.name}@{a.application_version}</span></th>
                  <td>{a.signer}{a.signer_expires ? <><br /><span class="calm">until {time(a.signer_expires)}</span></> : null}</td><td>{a.platforms.join(", ")}</td><td class="n">{bytes(a.archive_bytes)}</td><td>{time(a.added_at)}</td><td><code>{a.archive.slice(0, 16)}…</code></td>
                </tr>
              ))}
            </tbody>
          </Table>
        )}
      </Card>
      {status && (
        <Card title="Keys" wide>
          <dl class="facts">
            <dt>root key</dt><dd><code>{status.project}</code></dd>
            <dt>work key</dt><dd>certified by the root key until {time(status.work_certificate_expires)}</dd>
          </dl>
        </Card>
      )}
    </>
  );
}

const groups: Record<string, string> = {
  project: "Project", server: "Server and its public address", limits: "Limits for hosts and networks", hosts: "Hosts", work: "Work and its sizes", managers: "Managers of applications",
  store: "Stored rows and results", blobs: "Object store", link: "Front ends", log: "Log", notices: "Notices",
};
const groupOf = (setting: SettingInfo): string => setting.name.slice(0, Math.max(0, setting.name.indexOf("."))) || "project";
// The unit stands in the name: keep_ended_days, disk_reserve_megabytes.
const units: [RegExp, string][] = [[/_megabytes_per_second$/, "MiB/s"], [/_megabytes$/, "MiB"], [/_seconds$/, "s"], [/_hours$/, "h"], [/_days$/, "days"], [/_requests_per_second$/, "requests/s"], [/_per_hour$/, "per hour"]];
function shown(setting: SettingInfo, value: string): string {
  const text = value === '""' || value === "" ? "none" : value === "true" ? "yes" : value === "false" ? "no" : value.replace(/^"(.*)"$/, "$1");
  const unit = /^[\d.]+$/.test(value) ? units.find(([ends]) => ends.test(setting.name))?.[1] : undefined;
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
      <Heading>Settings</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <input type="search" aria-label="Name or meaning" placeholder="Name or meaning" value={query("text")} onInput={event => show({ text: event.currentTarget.value })} />
        <Choice label="Which" of={[["", `all ${settings.length}`], ["yes", `changed ${settings.filter(changed).length}`]]} now={only ? "yes" : ""} onChoose={value => show({ changed: value })} />
        <span class="calm">Read from server.toml. Edit that file and restart the server to change them.</span>
      </form>
      {found.length === 0 && <p class="calm">No setting matches.</p>}
      <div class="settings">
        {[...new Set(found.map(groupOf))].map(group => (
          <Card key={group} title={groups[group] ?? group}>
            <dl class="settings-list">
              {found.filter(s => groupOf(s) === group).map(s => (
                <div key={s.name} class={changed(s) && !own(s) ? "changed" : ""}>
                  <dt><code>{s.name}</code></dt>
                  <dd><b>{shown(s, s.value)}</b>{changed(s) && !own(s) && <small>default {shown(s, s.default_value)}</small>}</dd>{s.meaning && <dd class="meaning">{s.meaning}</dd>}
                </div>
              ))}
            </dl>
          </Card>
        ))}
      </div>
    </>
  );
}
