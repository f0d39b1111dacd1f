// The applications, and the project's keys.
import { useMemo } from "preact/hooks";
import { useActs } from "./acts";
import { idOf, list, type Application } from "./api";
import { Find, fits } from "./find";
import { live } from "./live";
import { Card, Heading, Missing, rich, usePolled } from "./parts";
import { needsLink, query } from "./route";
import { Rows, type Column } from "./rows";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { bytes, count, time } from "./words";

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
