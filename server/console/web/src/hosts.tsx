import { useEffect, useRef, useState } from "preact/hooks";
import { ask, change, list, may, type Host, type Unit } from "./api";
import { Ask, attempt, Card, Figure, Heading, Missing, State, usePolled } from "./parts";
import { Relays, relayOf, useRelays } from "./relays";
import { Timeline } from "./timeline";
import { bytes, count, duration, figure, percent, plural, time } from "./words";

interface Page { hosts: Host[]; next: number; total: number; now: number; cost_accepted?: number }
const rowHeight = 44;

const idle = (host: Host): string => (host.state !== "active" || host.open_units > 0 ? "" : host.on_hold || host.state_reason || "it waits for work");
// How likely a result of it is right, where it is believed least.
const trust = (host: Host): string => ((host.trust ?? -1) < 0 ? "–" : percent(host.trust!));

// Of all work that the project ever accepted, by cost.
const share = (host: Host, all = 0): string => (all > 0 && host.cost_accepted > 0 ? percent(host.cost_accepted / all) : "–");
const columns = ["Host", "State", "Why idle", "Cores", "Speed", "Trust", "Items", "Share", "Version", "Heard of"];

export function Hosts() {
  const [text, setText] = useState("");
  const [state, setState] = useState("active");
  const [tag, setTag] = useState("");
  const [order, setOrder] = useState("number");
  const [relay, setRelay] = useState(0);
  const [relays, noRelays] = useRelays();
  const [hosts, setHosts] = useState<Host[]>([]);
  const [page, setPage] = useState<Page>();
  const [wrong, setWrong] = useState("");
  const asked = useRef(0);
  const loading = useRef(false);
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);

  const load = async (after: number, so_far: Host[]) => {
    const number = ++asked.current;
    loading.current = true;
    try {
      const query = new URLSearchParams({ after: `${after}`, text, order, ...(state ? { state } : {}), ...(tag ? { tag } : {}), ...(relay ? { relay: `${relay}` } : {}) });
      const got = await ask<Page>(`/v1/admin/host-pages?${query.toString().replaceAll("+", "%20")}`);
      if (number !== asked.current) return;
      const known = new Set(so_far.map(each => each.id));  // the order may have moved on in between
      setHosts([...so_far, ...got.hosts.filter(each => !known.has(each.id))]);
      setPage(got);
      setWrong("");
    } catch (error) { if (number === asked.current) setWrong((error as Error).message); }
    if (number === asked.current) loading.current = false;
  };
  useEffect(() => {
    const timer = window.setTimeout(() => { if (place.current) place.current.scrollTop = 0; void load(0, []); }, text ? 250 : 0);
    return () => clearTimeout(timer);
  }, [text, state, tag, order, relay]);

  const height = 560;
  const first = Math.max(0, Math.floor(top / rowHeight) - 10);
  const shown = hosts.slice(first, first + Math.ceil(height / rowHeight) + 20);
  useEffect(() => {
    if (page && page.next > 0 && !loading.current && first + shown.length >= hosts.length - 50) void load(page.next, hosts);
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
      <Relays relays={relays} wrong={noRelays} chosen={relay} choose={setRelay} />
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <label for="text">Name, tag or version</label>
        <input id="text" type="search" value={text} onInput={event => setText(event.currentTarget.value)} />
        <label for="state">State</label>
        <select id="state" value={state} onChange={event => setState(event.currentTarget.value)}>
          <option value="active">active</option><option value="revoked">revoked</option><option value="left">left</option><option value="">any</option>
        </select>
        <label for="tag">Tag</label>
        <input id="tag" type="search" value={tag} onInput={event => setTag(event.currentTarget.value.trim())} />
        <label for="order">Order</label>
        <select id="order" value={order} onChange={event => setOrder(event.currentTarget.value)}>
          <option value="number">who joined first</option><option value="delivered">greatest share</option>
        </select>
        <span class="calm" role="status">{page ? `${plural(hosts.length, "host")} shown${page.next ? " so far" : ""}, ${count(page.total)} in all` : ""}</span>
      </form>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {page && hosts.length === 0 && <p class="calm">No host fits.</p>}
      <div class="virtual" role="table" aria-label="Hosts" aria-rowcount={hosts.length + 1}>
        <div role="rowgroup">
          <div role="row" class="row headings" aria-rowindex={1}>
            {columns.map(name => (
              <span role="columnheader" key={name} aria-sort={name === "Share" && order === "delivered" ? "descending" : undefined}
                title={name === "Share" ? "of all work that the project ever accepted, by cost" : undefined}>{name}</span>
            ))}
          </div>
        </div>
        <div ref={place} class="window" role="rowgroup" tabIndex={0} aria-label="Hosts, a row each" onScroll={event => setTop(event.currentTarget.scrollTop)}>
          <div ref={body} role="presentation" class="rows">
            {shown.map((host, i) => (
              <div role="row" class="row" key={host.id} aria-rowindex={first + i + 2}>
                <span role="cell"><a href={`#/hosts/${host.id}`}>{host.name}</a>
                  {host.relay && <button type="button" class="tag" aria-label={`hosts under ${relayOf(relays, host.relay)}`} onClick={() => setRelay(host.relay!)}>under {relayOf(relays, host.relay)}</button>}
                  {host.tags.map(each => <button type="button" class="tag" key={each} aria-label={`hosts with the tag ${each}`} onClick={() => setTag(each)}>{each}</button>)}</span>
                <span role="cell"><State of={host.on_hold && host.state === "active" ? "on hold" : host.state} /></span>
                <span role="cell" title={idle(host)}>{idle(host)}</span>
                <span role="cell">{host.cores}</span>
                <span role="cell">{host.mflops ? `${figure(host.mflops)} Mflop/s` : "–"}</span>
                <span role="cell">{trust(host)}</span>
                <span role="cell">{count(host.items_accepted)}</span>
                <span role="cell">{share(host, page?.cost_accepted)}</span>
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
  const path = `/v1/admin/hosts/${id}`;
  const [host, wrong, again] = usePolled<Host>(() => ask(path), 5, [id]);
  const [relays] = useRelays();
  const own = relays.find(each => each.host === id);
  const [units, noUnits] = usePolled<Unit[]>(() => list(`${path}/units?count=200`), 5, [id]);
  if (!host) return <><Heading>Host {id}</Heading><Missing wrong={wrong} /></>;
  return (
    <>
      <p class="calm"><a href="#/hosts">Hosts</a> / host {host.id}</p>
      <Heading>{host.name} <State of={host.state} /> {host.on_hold && <State of="on hold" />}</Heading>
      {host.on_hold && <p>It gets no new units: {host.on_hold}</p>}
      {!host.on_hold && host.state_reason && <p class="calm">It says: {host.state_reason}</p>}
      {may("operator") && <HostControls key={host.tags.join()} host={host} path={path} again={again} />}
      <dl class="figures">
        <Figure name="units in hand" value={count(host.open_units)} />
        <Figure name="items accepted" value={count(host.items_accepted)} />
        <Figure name="failures" value={count(host.failures)} />
        <Figure name="disagreements" value={count(host.disagreements)} />
        <Figure name="trust" value={trust(host)} note=" that a result is right" />
      </dl>
      <div class="cards">
        <Card title="Units" wide>{!units ? <Missing wrong={noUnits} /> : units.length > 0 ? <Timeline units={units} /> : <p class="calm">It has had none yet.</p>}</Card>
        <Card title="About it" wide>
          <dl class="facts">
            <dt>cores, memory</dt><dd>{host.cores}, {bytes(host.memory_bytes)}</dd>
            <dt>speed of a core</dt><dd>{host.mflops ? `${figure(host.mflops)} Mflop/s` : "not measured"}</dd>
            <dt>platform</dt><dd>{host.platform}</dd>
            <dt>client</dt><dd>{host.client_version}</dd>
            <dt>joined</dt><dd>{time(host.enrolled_at)} with the code {host.code || "of before"}</dd>
            {host.relay && <><dt>under the relay</dt><dd><a href={`#/hosts/${host.relay}`}>{relayOf(relays, host.relay)}</a></dd></>}
            {own && <><dt>hosts under it</dt><dd>{count(own.hosts)} of {count(own.children)}</dd></>}
            <dt>heard of</dt><dd>{time(host.last_contact)}</dd>
            <dt>tags</dt><dd>{host.tags.join(", ") || "none"}</dd>
          </dl>
        </Card>
      </div>
    </>
  );
}

function HostControls({ host, path, again }: { host: Host; path: string; again: () => void }) {
  const [asking, setAsking] = useState<"" | "revoke" | "hold">("");
  const [tags, setTags] = useState(host.tags.join(", "));
  const [reason, setReason] = useState("");
  const act = (verb: string, good: string, body: object = {}) => attempt(() => change(`${path}/${verb}`, body), good).then(again);
  const tag = (event: Event) => {
    event.preventDefault();
    void act("tags", `${host.name} has other tags.`, { tags: tags.split(",").map(each => each.trim()).filter(Boolean) });
  };
  return (
    <>
      <div class="buttons">
        {host.on_hold ? <button onClick={() => act("release", `${host.name} gets units again.`)}>Release</button>
          : host.state === "active" && <button onClick={() => setAsking("hold")}>Hold</button>}
        {host.state === "active" && <button class="danger" onClick={() => setAsking("revoke")}>Revoke</button>}
        <form class="filter inline" onSubmit={tag}>
          <label for="tags">Tags</label><input id="tags" value={tags} onInput={event => setTags(event.currentTarget.value)} /><button class="plain">Set them</button>
        </form>
      </div>
      {asking === "hold" && (
        <Ask title={`Hold ${host.name}?`} yes="Hold it" no="Let it go on" eager onAnswer={sure => { setAsking(""); if (sure) void act("hold", `${host.name} is on hold.`, { reason }); }}>
          <p>What it has goes on; it gets no new units until it is released.</p>
          <p><label for="reason">Why (its owner is told)</label> <input id="reason" value={reason} onInput={event => setReason(event.currentTarget.value)} /></p>
        </Ask>
      )}
      {asking === "revoke" && (
        <Ask title={`Revoke ${host.name}?`} yes="Revoke it" onAnswer={sure => { setAsking(""); if (sure) void act("revoke", `${host.name} is revoked.`); }}>
          <p>Its units go to other hosts, and its key cannot join again. What it delivered stays.</p>
        </Ask>
      )}
    </>
  );
}
