import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, change, list, may, type Host, type Relay, type Unit } from "./api";
import type { HostPage } from "./messages";
import { Ask, attempt, Card, Figure, Heading, Missing, State, usePolled } from "./parts";
import { relayOf, useRelays } from "./relays";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { Timeline } from "./timeline";
import { bytes, count, duration, figure, percent, plural, time } from "./words";

const idle = (host: Host): string => (host.state !== "active" || host.open_units > 0 ? "" : host.on_hold || host.state_reason || "waiting for work");
// How likely a result of it is right, where it is believed least.
const trust = (host: Host): string => ((host.trust ?? -1) < 0 ? "–" : percent(host.trust!));

// Of all work that the project ever accepted, by cost.
const share = (host: Host, all = 0): string => (all > 0 && host.cost_accepted > 0 ? percent(host.cost_accepted / all) : "–");
const columns = (relays: Relay[], page?: HostPage): Column<Host>[] => [
  { name: "Host", width: "minmax(9rem, 2fr)", order: h => h.name, cell: h => <>
    <a href={`#/hosts/${h.id}`}>{h.name}</a>
    {h.relay && <button type="button" class="tag" aria-label={`hosts under ${relayOf(relays, h.relay)}`} onClick={() => show({ relay: `${h.relay}` })}>under {relayOf(relays, h.relay)}</button>}
    {h.tags.map(each => <button type="button" class="tag" key={each} aria-label={`hosts with the tag ${each}`} onClick={() => show({ tag: each })}>{each}</button>)}</> },
  { name: "State", width: "5.5rem", order: h => (h.on_hold && h.state === "active" ? "on hold" : h.state), cell: h => <State of={h.on_hold && h.state === "active" ? "on hold" : h.state} /> },
  { name: "Why idle", width: "minmax(5rem, 1.6fr)", order: idle, cell: h => <span title={idle(h)}>{idle(h)}</span>, minor: true },
  { name: "Cores", width: "3.5rem", order: h => h.cores, cell: h => h.cores, number: true },
  { name: "Speed", width: "7.2rem", order: h => h.mflops, cell: h => (h.mflops ? `${figure(h.mflops)} Mflop/s` : "–"), number: true, minor: true },
  { name: "Trust", width: "4rem", order: h => h.trust ?? -1, cell: trust, number: true, minor: true, hint: "chance that a result is correct" },
  { name: "Items", width: "4.5rem", order: h => h.items_accepted, cell: h => count(h.items_accepted), number: true, minor: true },
  { name: "Share", width: "4rem", order: h => h.cost_accepted, cell: h => share(h, page?.cost_accepted), number: true, hint: "of all work that the project ever accepted, by cost" },
  { name: "Version", width: "4rem", order: h => h.client_version, cell: h => h.client_version, minor: true },
  { name: "Last contact", width: "6.5rem", order: h => -h.last_contact, cell: h => `${duration(Math.max(0, ((page?.now ?? 0) - h.last_contact) / 1e6))} ago`, minor: true },
];

export function Hosts() {
  const text = query("text"), state = query("state", "active"), tag = query("tag"), relay = Number(query("relay", "0"));
  const order = query("sort") === "-Share" ? "delivered" : "number";
  const [relays] = useRelays();
  const [hosts, setHosts] = useState<Host[]>([]);
  const [page, setPage] = useState<HostPage>();
  const [wrong, setWrong] = useState("");
  const asked = useRef(0);
  const loading = useRef(false);

  const load = async (after: number, so_far: Host[]) => {
    const number = ++asked.current;
    loading.current = true;
    try {
      const fields = new URLSearchParams({ after: `${after}`, text, order, ...(state !== "any" ? { state } : {}), ...(tag ? { tag } : {}), ...(relay ? { relay: `${relay}` } : {}) });
      const got = await ask<HostPage>(`/v1/admin/host-pages?${fields.toString().replaceAll("+", "%20")}`);
      if (number !== asked.current) return;
      const known = new Set(so_far.map(each => each.id));  // the order may have moved on in between
      setHosts([...so_far, ...got.hosts.filter(each => !known.has(each.id))]);
      setPage(got);
      setWrong("");
    } catch (error) { if (number === asked.current) setWrong((error as Error).message); }
    if (number === asked.current) loading.current = false;
  };
  useEffect(() => {
    const timer = window.setTimeout(() => void load(0, []), text ? 250 : 0);
    return () => { clearTimeout(timer); ++asked.current; };
  }, [text, state, tag, order, relay]);
  const more = () => { if (page && page.next > 0 && !loading.current) void load(page.next, hosts); };
  const shown = useMemo(() => columns(relays, page), [relays, page]);
  return (
    <>
      <Heading>Hosts</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <label>Name, tag or version <input id="text" type="search" value={text} onInput={event => show({ text: event.currentTarget.value })} /></label>
        <label>State <select id="state" value={state} onChange={event => show({ state: event.currentTarget.value })}>
          <option value="active">active</option><option value="revoked">revoked</option><option value="left">left</option><option value="any">any</option>
        </select></label>
        <label>Tag <input id="tag" type="search" value={tag} onInput={event => show({ tag: event.currentTarget.value.trim() })} /></label>
        {relay > 0 && <button type="button" class="plain small" onClick={() => show({ relay: "" })}>under {relayOf(relays, relay)} ×</button>}
        <span class="calm" role="status">{page ? `${plural(hosts.length, "host")} shown${page.next ? " so far" : ""}, ${count(page.total)} in all` : ""}</span>
      </form>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {page && hosts.length === 0 && <p class="calm">No host matches.</p>}
      <Rows label="Hosts" columns={shown} rows={hosts} id={host => host.id} onEnd={more} />
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
      {host.on_hold && <p>On hold, it gets no new units: {host.on_hold}</p>}
      {!host.on_hold && host.state_reason && <p class="calm">Reported reason: {host.state_reason}</p>}
      {may("operator") && <HostControls key={host.tags.join()} host={host} path={path} again={again} />}
      <dl class="figures">
        <Figure name="units in hand" value={count(host.open_units)} />
        <Figure name="items accepted" value={count(host.items_accepted)} />
        <Figure name="failures" value={count(host.failures)} />
        <Figure name="disagreements" value={count(host.disagreements)} />
        <Figure name="trust" value={trust(host)} note=" chance that a result is correct" />
      </dl>
      <div class="cards">
        <Card title="Units" wide>{!units ? <Missing wrong={noUnits} /> : units.length > 0 ? <Timeline units={units} /> : <p class="calm">No units yet.</p>}</Card>
        <Card title="About it" wide>
          <dl class="facts">
            <dt>cores, memory</dt><dd>{host.cores}, {bytes(host.memory_bytes)}</dd>
            <dt>speed of a core</dt><dd>{host.mflops ? `${figure(host.mflops)} Mflop/s` : "not measured"}</dd>
            <dt>platform</dt><dd>{host.platform}</dd>
            <dt>client</dt><dd>{host.client_version}</dd>
            <dt>joined</dt><dd>{time(host.enrolled_at)} with join code {host.code || "default"}</dd>
            {host.relay && <><dt>under the relay</dt><dd><a href={`#/hosts/${host.relay}`}>{relayOf(relays, host.relay)}</a></dd></>}
            {own && <><dt>hosts under it</dt><dd>{count(own.hosts)} of {count(own.children)}</dd></>}
            <dt>last contact</dt><dd>{time(host.last_contact)}</dd>
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
    void act("tags", `Tags of ${host.name} saved.`, { tags: tags.split(",").map(each => each.trim()).filter(Boolean) });
  };
  return (
    <>
      <div class="buttons">
        {host.on_hold ? <button onClick={() => act("release", `${host.name} released.`)}>Release</button>
          : host.state === "active" && <button onClick={() => setAsking("hold")}>Hold</button>}
        {host.state === "active" && <button class="danger" onClick={() => setAsking("revoke")}>Revoke</button>}
        <form class="filter inline" onSubmit={tag}>
          <label for="tags">Tags</label><input id="tags" value={tags} onInput={event => setTags(event.currentTarget.value)} /><button class="plain">Save tags</button>
        </form>
      </div>
      {asking === "hold" && (
        <Ask title={`Hold ${host.name}?`} yes="Hold host" no="Back" eager onAnswer={sure => { setAsking(""); if (sure) void act("hold", `${host.name} is on hold.`, { reason }); }}>
          <p>Units it already has will finish. It gets no new ones until it is released.</p>
          <p><label for="reason">Reason, shown to its owner</label> <input id="reason" value={reason} onInput={event => setReason(event.currentTarget.value)} /></p>
        </Ask>
      )}
      {asking === "revoke" && (
        <Ask title={`Revoke ${host.name}?`} yes="Revoke host" no="Back" onAnswer={sure => { setAsking(""); if (sure) void act("revoke", `${host.name} is revoked.`); }}>
          <p>Its units go to other hosts and its key cannot join again. Its accepted results stay.</p>
        </Ask>
      )}
    </>
  );
}
