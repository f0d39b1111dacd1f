import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useActs } from "./acts";
import type { Host, Relay } from "./api";
import { hostPage } from "./hostpages";
import { hostNews } from "./live";
import type { HostPage } from "./messages";
import { Choice, Heading, State, usePolled } from "./parts";
import { relayOf, useRelays } from "./relays";
import { query, show } from "./route";
import { Rows, type Column } from "./rows";
import { shared, t } from "./strings";
import { ago, count, figure, percent, plural } from "./words";

export const stateOf = (host: Host): string => (host.on_hold && host.state === "active" ? "on hold" : host.state);
// What it does now, or why it is idle.
const doing = (host: Host): string => host.state !== "active" ? "" : host.open_units > 0 ? plural(host.open_units, t.hasUnits) : host.on_hold || host.state_reason || t.waitingForWork;
// How likely a result of it is right, where it is believed least.
export const trust = (host: Host): string => ((host.trust ?? -1) < 0 ? "–" : percent(host.trust!));
// What its owner lends, of what there is.
export const lent = (part: number | undefined, whole: number, text: (value: number) => string): string => (part !== undefined && part < whole ? t.of(text(part), text(whole)) : text(whole));
// In whole cores: two at 20 % are 0.4.
export const cores = (host: Host): string => lent(host.cores_lent, host.cores, figure);

// A day of hours as bars; an hour of which nothing was reported is a gap.
export function Day({ hours }: { hours: number[] }) {
  const told = hours.filter(each => each >= 0);
  if (told.length === 0) return <>–</>;
  const label = t.dayLabel(percent(told.reduce((sum, each) => sum + each, 0) / told.length / 100), percent(Math.max(...told) / 100));
  return (
    <svg class="day" viewBox={`0 0 ${hours.length} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {hours.map((each, i) => each >= 0 && <rect key={i} x={i + 0.1} width={0.8} y={100 - Math.max(each, 4)} height={Math.max(each, 4)} />)}
    </svg>
  );
}

// Of all work that the project ever accepted, by cost.
const share = (host: Host, all = 0): string => (all > 0 && host.cost_accepted > 0 ? percent(host.cost_accepted / all) : "–");
const columns = (relays: Relay[], page?: HostPage): Column<Host>[] => [
  { id: "name", name: t.host, width: "minmax(7.5rem, 1.8fr)", sorted: true, cell: h => <>
    <a href={`#/hosts/${h.id}`} title={h.name}>{h.name}</a>
    {h.relay && <button type="button" class="tag" aria-label={t.hostsUnder(relayOf(relays, h.relay))} onClick={() => show({ relay: `${h.relay}` })}>{t.underRelay(relayOf(relays, h.relay))}</button>}
    {h.tags.map(each => <button type="button" class="tag" key={each} aria-label={t.hostsTagged(each)} onClick={() => show({ tag: each })}>{each}</button>)}</> },
  { id: "state", name: t.state, width: "5rem", sorted: true, cell: h => <State of={stateOf(h)} /> },
  { id: "reason", name: t.now, width: "minmax(5.5rem, 1.6fr)", sorted: true, cell: h => <span title={doing(h)} class={h.open_units > 0 ? "" : "calm"}>{doing(h)}</span>, hint: t.nowHint },
  { id: "cores", name: t.cores, width: "4.5rem", sorted: true, cell: cores, number: true, hint: t.coresHint },
  { id: "day", name: t.dayColumn, width: "4.4rem", cell: h => <Day hours={h.cpu_day} />, hint: t.dayHint },
  { id: "speed", name: "Mflop/s", width: "4.2rem", sorted: true, cell: h => (h.mflops ? figure(h.mflops) : "–"), number: true, hint: t.speedHint },
  { id: "trust", name: t.trust, width: "4.2rem", sorted: true, cell: trust, number: true, hint: t.trustHint },
  { id: "items", name: t.items, width: "4rem", sorted: true, cell: h => count(h.items_accepted), number: true },
  { id: "cost", name: t.share, width: "4rem", sorted: true, cell: h => share(h, page?.cost_accepted), number: true, hint: t.shareHint },
  { id: "version", name: t.version, width: "3.8rem", sorted: true, cell: h => h.client_version },
  { id: "ago", name: t.lastContact, width: "5.6rem", sorted: true, cell: h => ago((page?.now ?? 0) - h.last_contact), number: true },
];
// The columns have the server's names: it sorts, since it has all hosts. The latest contact is the least time ago.
const orderOf = (sort: string): string => ({ "": "number", ago: "-contact", "-ago": "contact" })[sort] ?? sort;
const brief = (h: Host) => (
  <>
    <span><a href={`#/hosts/${h.id}`}>{h.name}</a><State of={stateOf(h)} /></span>
    <span><small>{doing(h)}</small><small>{t.coresTagged(cores(h), h.tags.join(", "))}</small></span>
  </>
);
const states = () => ["active", "on hold", "revoked", "left", "any"].map((state): [string, string] => [state, shared.states[state]]);
const freshSeconds = 5, onePage = 1000;

export function Hosts() {
  const text = query("text"), state = query("state", "active"), tag = query("tag"), needs = query("needs"), relay = Number(query("relay", "0"));
  const order = orderOf(query("sort"));
  const [relays] = useRelays();
  const [hosts, setHosts] = useState<Host[]>([]);
  const [page, setPage] = useState<HostPage>();
  const [wrong, setWrong] = useState("");
  const asked = useRef(0), loading = useRef(false), loaded = useRef(0), whose = useRef("");
  loaded.current = hosts.length;
  const which = [text, state, tag, needs, order, relay];

  const load = async (after: number, so_far: Host[]) => {
    const number = ++asked.current;
    loading.current = true;
    try {
      const of: Record<string, string> = state === "on hold" ? { state: "active", on_hold: "true" } : state !== "any" ? { state } : {};
      const fields = new URLSearchParams({ after: `${after}`, text, order, ...of, ...(tag ? { tag } : {}), ...(needs ? { needs } : {}), ...(relay ? { relay: `${relay}` } : {}) });
      const got = await hostPage(fields);
      if (number !== asked.current) return;
      const known = new Set(so_far.map(each => each.id));  // the order may have moved on in between
      setHosts([...so_far, ...got.hosts.filter(each => !known.has(each.id))]);
      setPage(got);
      whose.current = which.join();
      setWrong("");
    } catch (error) { if (number === asked.current) setWrong((error as Error).message); }
    if (number === asked.current) loading.current = false;
  };
  useEffect(() => {
    const timer = window.setTimeout(() => void load(0, []), text || needs ? 250 : 0);
    return () => { clearTimeout(timer); ++asked.current; loading.current = false; };
  }, which);
  // What is not more than a page stays up to date.
  usePolled(async () => { if (whose.current === which.join() && !loading.current && loaded.current <= onePage) await load(0, []); }, freshSeconds, which, `${useActs()} ${hostNews()}`);
  const more = () => { if (page && page.next > 0 && !loading.current) void load(page.next, hosts); };
  const shown = useMemo(() => columns(relays, page), [relays, page]);
  return (
    <>
      <Heading>{t.hosts}</Heading>
      <form class="filter" onSubmit={event => event.preventDefault()}>
        <input id="text" type="search" aria-label={t.hostFilter} placeholder={t.hostFilter} value={text} onInput={event => show({ text: event.currentTarget.value })} />
        <input id="tag" type="search" class="short" aria-label={t.tag} placeholder={t.tag} value={tag} onInput={event => show({ tag: event.currentTarget.value.trim() })} />
        <input id="needs" type="search" class="short" aria-label={t.hostNeeds} placeholder={t.offers} title={t.hostNeeds} value={needs} onInput={event => show({ needs: event.currentTarget.value.replaceAll(" ", "") })} />
        <Choice label={t.state} of={states()} now={state} onChoose={value => show({ state: value === "active" ? "" : value })} />
        {relay > 0 && <button type="button" class="plain small" onClick={() => show({ relay: "" })}>{t.underRelay(relayOf(relays, relay))} ×</button>}
        <span class="calm" role="status">{page ? t.inAll(plural(hosts.length, page.next ? t.hostsShownSoFar : t.hostsShown), count(page.total)) : ""}</span>
      </form>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {page && hosts.length === 0 && <p class="calm">{t.noHostMatches}</p>}
      <Rows label={t.hosts} columns={shown} rows={hosts} id={host => host.id} brief={brief} onEnd={more} />
    </>
  );
}
