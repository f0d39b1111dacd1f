import { useEffect, useRef, useState } from "preact/hooks";
import { ask, change, may, type Host } from "./api";
import { Ask, attempt, Card, Figure, Heading, State, usePolled } from "./parts";
import { bytes, count, duration, figure, plural, time } from "./words";

interface Page { hosts: Host[]; next: number; total: number; now: number }
const rowHeight = 44;

export function Hosts() {
  const [text, setText] = useState("");
  const [state, setState] = useState("active");
  const [hosts, setHosts] = useState<Host[]>([]);
  const [page, setPage] = useState<Page>();
  const [wrong, setWrong] = useState("");
  const asked = useRef(0);
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);

  const load = async (after: number, so_far: Host[]) => {
    const number = ++asked.current;
    try {
      const query = new URLSearchParams({ after: `${after}`, text, ...(state ? { state } : {}) });
      const got = await ask<Page>(`/v1/admin/host-pages?${query.toString().replaceAll("+", "%20")}`);
      if (number !== asked.current) return;
      setHosts([...so_far, ...got.hosts]);
      setPage(got);
      setWrong("");
    } catch (error) { setWrong((error as Error).message); }
  };
  useEffect(() => {
    const timer = window.setTimeout(() => { if (place.current) place.current.scrollTop = 0; void load(0, []); }, text ? 250 : 0);
    return () => clearTimeout(timer);
  }, [text, state]);

  const height = 560;
  const first = Math.max(0, Math.floor(top / rowHeight) - 10);
  const shown = hosts.slice(first, first + Math.ceil(height / rowHeight) + 20);
  useEffect(() => {
    if (page && page.next > 0 && first + shown.length >= hosts.length - 50) void load(page.next, hosts);
  }, [first, hosts.length, page?.next]);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!body.current) return;
    body.current.style.height = `${hosts.length * rowHeight}px`;
    body.current.style.paddingTop = `${first * rowHeight}px`;
  }, [first, hosts.length]);
  return (
    <>
      <Heading>Hosts</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <label for="text">Name, tag or version</label>
        <input id="text" type="search" value={text} onInput={event => setText(event.currentTarget.value)} />
        <label for="state">State</label>
        <select id="state" value={state} onChange={event => setState(event.currentTarget.value)}>
          <option value="active">active</option><option value="revoked">revoked</option><option value="left">left</option><option value="">any</option>
        </select>
        <span class="calm" role="status">{page ? `${plural(hosts.length, "host")} shown${page.next ? " so far" : ""}, ${count(page.total)} in all` : ""}</span>
      </form>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {page && hosts.length === 0 && <p class="calm">No host fits.</p>}
      <div class="virtual" role="table" aria-label="Hosts" aria-rowcount={hosts.length + 1}>
        <div role="rowgroup">
          <div role="row" class="row headings" aria-rowindex={1}>
            {["Host", "State", "Cores", "Speed", "Items", "Version", "Heard of"].map(name => <span role="columnheader" key={name}>{name}</span>)}
          </div>
        </div>
        <div ref={place} class="window" role="rowgroup" tabIndex={0} aria-label="Hosts, a row each" onScroll={event => setTop(event.currentTarget.scrollTop)}>
          <div ref={body} role="presentation" class="rows">
            {shown.map((host, i) => (
              <div role="row" class="row" key={host.id} aria-rowindex={first + i + 2}>
                <span role="cell"><a href={`#/hosts/${host.id}`}>{host.name}</a></span>
                <span role="cell"><State of={host.state} /></span>
                <span role="cell">{host.cores}</span>
                <span role="cell">{host.mflops ? `${figure(host.mflops)} Mflop/s` : "–"}</span>
                <span role="cell">{count(host.items_accepted)}</span>
                <span role="cell">{host.client_version}</span>
                <span role="cell">{duration(Math.max(0, (page!.now - host.last_contact) / 1e6))} ago</span>
              </div>
            ))}
          </div>
        </div>
      </div>
    </>
  );
}

export function HostPage({ id }: { id: number }) {
  const [host, wrong, again] = usePolled<Host>(() => ask(`/v1/admin/hosts/${id}`), 5, [id]);
  const [asking, setAsking] = useState(false);
  if (!host) return wrong ? <><Heading>Host {id}</Heading><p role="alert">{wrong}</p></> : <p aria-busy="true">Loading …</p>;
  const revoke = () => attempt(() => change(`/v1/admin/hosts/${id}/revoke`, {}), `${host.name} is revoked.`).then(again);
  return (
    <>
      <p class="calm"><a href="#/hosts">Hosts</a> / host {host.id}</p>
      <Heading>{host.name} <State of={host.state} /></Heading>
      {host.state_reason && <p class="calm">It says: {host.state_reason}</p>}
      {may("operator") && host.state === "active" && <div class="buttons"><button class="danger" onClick={() => setAsking(true)}>Revoke</button></div>}
      {asking && (
        <Ask title={`Revoke ${host.name}?`} yes="Revoke it" onAnswer={sure => { setAsking(false); if (sure) void revoke(); }}>
          <p>Its units go to other hosts, and its key cannot join again. What it delivered stays.</p>
        </Ask>
      )}
      <dl class="figures">
        <Figure name="units in hand" value={count(host.open_units)} />
        <Figure name="items accepted" value={count(host.items_accepted)} />
        <Figure name="failures" value={count(host.failures)} />
        <Figure name="disagreements" value={count(host.disagreements)} />
      </dl>
      <Card title="About it">
        <dl class="facts">
          <dt>cores, memory</dt><dd>{host.cores}, {bytes(host.memory_bytes)}</dd>
          <dt>speed of a core</dt><dd>{host.mflops ? `${figure(host.mflops)} Mflop/s` : "not measured"}</dd>
          <dt>platform</dt><dd>{host.platform}</dd>
          <dt>client</dt><dd>{host.client_version}</dd>
          <dt>joined</dt><dd>{time(host.enrolled_at)} with the code {host.code || "of before"}</dd>
          <dt>heard of</dt><dd>{time(host.last_contact)}</dd>
          <dt>tags</dt><dd>{host.tags.join(", ") || "none"}</dd>
        </dl>
      </Card>
    </>
  );
}
