import { Fragment } from "preact";
import { ask, list, may, type Application } from "./api";
import { live } from "./live";
import type { AuditPage, SettingInfo } from "./messages";
import { Card, Heading, Missing, Table, usePolled } from "./parts";
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

const groupOf = (setting: { name: string }): string => setting.name.includes(".") ? setting.name.slice(0, setting.name.indexOf(".")) : "project";

export function Settings() {
  const [settings, wrong] = usePolled<SettingInfo[]>(() => list("/v1/admin/settings"), 0, []);
  if (!settings) return <Missing wrong={wrong} />;
  return (
    <>
      <Heading>Settings</Heading>
      <p class="calm">Read from server.toml. Edit that file and restart the server to change them.</p>
      <div class="cards">
        {[...new Set(settings.map(groupOf))].map(group => (
          <Card key={group} title={group}>
            <dl class="facts">{settings.filter(s => groupOf(s) === group).map(s => <Fragment key={s.name}><dt>{s.name.slice(s.name.indexOf(".") + 1).replaceAll("_", " ")}</dt><dd><code>{s.value || "–"}</code></dd></Fragment>)}</dl>
          </Card>
        ))}
      </div>
    </>
  );
}

export const maySeeSettings = (): boolean => may("operator");
