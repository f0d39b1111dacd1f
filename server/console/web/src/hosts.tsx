import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, change, list, may, type Host, type Relay, type Unit } from "./api";
import type { HostPage } from "./messages";
import { Ask, attempt, Card, Choice, Crumbs, Figure, Heading, Missing, State, Strip, usePolled } from "./parts";
import { relayOf, useRelays } from "./relays";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { Timeline } from "./timeline";
import { ago, bytes, count, figure, percent, plural, time } from "./words";

const stateOf = (host: Host): string => (host.on_hold && host.state === "active" ? "on hold" : host.state);
// What it does now, or why it is idle.
const doing = (host: Host): string => host.state !== "active" ? "" : host.open_units > 0 ? `has ${plural(host.open_units, "unit")}` : host.on_hold || host.state_reason || "waiting for work";
// How likely a result of it is right, where it is believed least.
const trust = (host: Host): string => ((host.trust ?? -1) < 0 ? "–" : percent(host.trust!));
// That its owner lends, in whole cores: two at 20 % are 0.4.
const cores = (host: Host): string => (host.cores_lent !== undefined && host.cores_lent < host.cores ? `${figure(host.cores_lent)} of ${host.cores}` : `${host.cores}`);

// Of all work that the project ever accepted, by cost.
const share = (host: Host, all = 0): string => (all > 0 && host.cost_accepted > 0 ? percent(host.cost_accepted / all) : "–");
const columns = (relays: Relay[], page?: HostPage): Column<Host>[] => [
  { name: "Host", width: "minmax(9rem, 1.8fr)", sorted: true, cell: h => <>
    <a href={`#/hosts/${h.id}`} title={h.name}>{h.name}</a>
    {h.relay && <button type="button" class="tag" aria-label={`hosts under ${relayOf(relays, h.relay)}`} onClick={() => show({ relay: `${h.relay}` })}>under {relayOf(relays, h.relay)}</button>}
    {h.tags.map(each => <button type="button" class="tag" key={each} aria-label={`hosts with the tag ${each}`} onClick={() => show({ tag: each })}>{each}</button>)}</> },
  { name: "State", width: "6rem", sorted: true, cell: h => <State of={stateOf(h)} /> },
  { name: "Now", width: "minmax(6rem, 1.6fr)", sorted: true, cell: h => <span title={doing(h)} class={h.open_units > 0 ? "" : "calm"}>{doing(h)}</span>, hint: "what it computes, or why it is idle" },
  { name: "Cores", width: "5rem", sorted: true, cell: cores, number: true, hint: "that its owner lends, of those it has" },
  { name: "Mflop/s", width: "4.6rem", sorted: true, cell: h => (h.mflops ? figure(h.mflops) : "–"), number: true, hint: "measured speed of one idle core" },
  { name: "Trust", width: "4.2rem", sorted: true, cell: trust, number: true, hint: "chance that a result is correct" },
  { name: "Items", width: "4.6rem", sorted: true, cell: h => count(h.items_accepted), number: true },
  { name: "Share", width: "4rem", sorted: true, cell: h => share(h, page?.cost_accepted), number: true, hint: "of all work that the project ever accepted, by cost" },
  { name: "Version", width: "4.2rem", sorted: true, cell: h => h.client_version },
  { name: "Last contact", width: "6.6rem", sorted: true, cell: h => ago((page?.now ?? 0) - h.last_contact), number: true },
];
// The server's names of the columns: it sorts, since it has all hosts. The latest contact is the least time ago.
const orders: Record<string, string> = { Host: "name", State: "state", Now: "reason", Cores: "cores", "Mflop/s": "speed", Trust: "trust", Items: "items", Share: "cost", Version: "version", "Last contact": "-contact" };
const orderOf = (sort: string): string => {
  const order = orders[sort.replace(/^-/, "")] ?? "number";
  return (sort.startsWith("-") ? `-${order}` : order).replace(/^--/, "");
};
const brief = (h: Host) => (
  <>
    <span><a href={`#/hosts/${h.id}`}>{h.name}</a><State of={stateOf(h)} /></span>
    <span><small>{doing(h)}</small><small>{cores(h)} cores{h.tags.length > 0 && `, ${h.tags.join(", ")}`}</small></span>
  </>
);
const states: [string, string][] = [["active", "active"], ["on hold", "on hold"], ["revoked", "revoked"], ["left", "left"], ["any", "any"]];
const freshSeconds = 5, onePage = 1000;

export function Hosts() {
  const text = query("text"), state = query("state", "active"), tag = query("tag"), relay = Number(query("relay", "0"));
  const order = orderOf(query("sort"));
  const [relays] = useRelays();
  const [hosts, setHosts] = useState<Host[]>([]);
  const [page, setPage] = useState<HostPage>();
  const [wrong, setWrong] = useState("");
  const asked = useRef(0), loading = useRef(false), loaded = useRef(0);
  loaded.current = hosts.length;

  const load = async (after: number, so_far: Host[]) => {
    const number = ++asked.current;
    loading.current = true;
    try {
      const of: Record<string, string> = state === "on hold" ? { state: "active", on_hold: "true" } : state !== "any" ? { state } : {};
      const fields = new URLSearchParams({ after: `${after}`, text, order, ...of, ...(tag ? { tag } : {}), ...(relay ? { relay: `${relay}` } : {}) });
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
    // What is not more than a page stays up to date.
    const fresh = window.setInterval(() => { if (!document.hidden && !loading.current && loaded.current <= onePage) void load(0, []); }, freshSeconds * 1000);
    return () => { clearTimeout(timer); clearInterval(fresh); ++asked.current; loading.current = false; };
  }, [text, state, tag, order, relay]);
  const more = () => { if (page && page.next > 0 && !loading.current) void load(page.next, hosts); };
  const shown = useMemo(() => columns(relays, page), [relays, page]);
  return (
    <>
      <Heading>Hosts</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <input id="text" type="search" aria-label="Name, tag, version or platform" placeholder="Name, tag, version or platform" value={text} onInput={event => show({ text: event.currentTarget.value })} />
        <input id="tag" type="search" class="short" aria-label="Tag" placeholder="Tag" value={tag} onInput={event => show({ tag: event.currentTarget.value.trim() })} />
        <Choice label="State" of={states} now={state} onChoose={value => show({ state: value === "active" ? "" : value })} />
        {relay > 0 && <button type="button" class="plain small" onClick={() => show({ relay: "" })}>under {relayOf(relays, relay)} ×</button>}
        <span class="calm" role="status">{page ? `${plural(hosts.length, "host")} shown${page.next ? " so far" : ""}, ${count(page.total)} in all` : ""}</span>
      </form>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {page && hosts.length === 0 && <p class="calm">No host matches.</p>}
      <Rows label="Hosts" columns={shown} rows={hosts} id={host => host.id} brief={brief} onEnd={more} />
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
      <Crumbs to="#/hosts" name="Hosts" here={`host ${host.id}`} />
      <div class="pagehead"><Heading>{host.name} <State of={stateOf(host)} /></Heading>{may("operator") && <HostControls host={host} path={path} again={again} />}</div>
      {host.on_hold && <p class="attention">On hold, it gets no new units: {host.on_hold}</p>}
      {!host.on_hold && host.state_reason && <p class="calm">{host.open_units > 0 ? "It said last" : "Idle"}: {host.state_reason}</p>}
      <Strip>
        <Figure name="units in hand" value={count(host.open_units)} />
        <Figure name="cores lent" value={cores(host)} />
        <Figure name="items accepted" value={count(host.items_accepted)} />
        <Figure name="failures" value={count(host.failures)} />
        <Figure name="disagreements" value={count(host.disagreements)} />
        <Figure name="trust: chance that a result is correct" value={trust(host)} />
      </Strip>
      <div class="cards">
        <Card title="Units" wide>{!units ? <Missing wrong={noUnits} /> : units.length > 0 ? <Timeline units={units} /> : <p class="calm">No units yet.</p>}</Card>
        <Card title="Details">
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
        <Card title="Tags"><Tags key={host.tags.join()} host={host} path={path} again={again} /></Card>
      </div>
    </>
  );
}

function Tags({ host, path, again }: { host: Host; path: string; again: () => void }) {
  const [tags, setTags] = useState(host.tags.join(", "));
  if (!may("operator")) return <p>{host.tags.join(", ") || "None."}</p>;
  const save = (event: Event) => {
    event.preventDefault();
    void attempt(() => change(`${path}/tags`, { tags: tags.split(",").map(each => each.trim()).filter(Boolean) }), `Tags of ${host.name} saved.`).then(again);
  };
  return (
    <form class="one-line" onSubmit={save}>
      <input id="tags" aria-label="Tags, comma-separated" placeholder="lab, b12" value={tags} onInput={event => setTags(event.currentTarget.value)} /><button class="plain">Save tags</button>
    </form>
  );
}

function HostControls({ host, path, again }: { host: Host; path: string; again: () => void }) {
  const [asking, setAsking] = useState<"" | "revoke" | "hold">("");
  const [reason, setReason] = useState("");
  const act = (verb: string, good: string, body: object = {}) => attempt(() => change(`${path}/${verb}`, body), good).then(again);
  return (
    <div class="buttons">
      {host.on_hold ? <button onClick={() => act("release", `${host.name} released.`)}>Release</button>
        : host.state === "active" && <button onClick={() => setAsking("hold")}>Hold</button>}
      {host.state === "active" && <button class="danger" onClick={() => setAsking("revoke")}>Revoke</button>}
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
    </div>
  );
}
