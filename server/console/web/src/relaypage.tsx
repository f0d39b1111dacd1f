// Relays as a tree, or sorted: how many hosts are under each, and what limits it.
import { useActs } from "./acts";
import { ask, list, type Host, type Relay } from "./api";
import { Find } from "./find";
import { hostNews, live } from "./live";
import type { RelayLimit } from "./messages";
import { Card, Heading, Missing, rich, State, usePolled } from "./parts";
import { query } from "./route";
import { Rows, type Column } from "./rows";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { ago, bytes, count, duration, figure, percent, plural } from "./words";

const relaysLooked = 100, depthMax = 4;
const limitsAsked = 20;  // at once: the planner makes each
const silentSeconds = 300, busyProcessor = 0.9;

interface Line { relay: Relay; depth: number }

// By the planner, in words; `gleaner-admin relay explain` has the same sentence.
const bottleneck = (found: RelayLimit): string => {
  const what = l.limits[found.limit];
  return !what ? "" : found.items_per_second && found.limit !== "work" ? l.limitRate(what, figure(found.items_per_second)) : what;
};

// What limits a relay, in words, and whether that is a fault: the worst first.
function limitOf(relay: Relay, host: Host | undefined, found: RelayLimit | undefined, now: number): [string, boolean] {
  if (!relay.host) return [l.notJoined, false];
  if (relay.state !== "active") return [shared.states[relay.state] ?? relay.state, true];
  if (host?.on_hold) return [l.onHold(host.on_hold), true];
  if (now > 0 && (now - relay.last_contact) / 1e6 > silentSeconds) return [l.silent(duration((now - relay.last_contact) / 1e6)), true];
  if (relay.trouble) return [relay.trouble, true];
  if (host?.state_reason) return [host.state_reason, true];
  if (relay.hosts >= relay.children) return [l.quotaUsed, true];
  if ((host?.readings?.cpu ?? 0) >= busyProcessor) return [l.processorBusy(percent(host!.readings!.cpu!)), true];
  const by = found && bottleneck(found);
  if (by) return [by, false];
  const line = host?.speeds && host.speeds.upload_bytes_per_second > 0 ? l.line(bytes(host.speeds.upload_bytes_per_second), bytes(host.speeds.download_bytes_per_second)) : "";
  return [line || l.nothingKnown, false];
}

// What a relay's own page says of it.
export function Bottleneck({ relay }: { relay: Relay }) {
  const [found, wrong] = usePolled<RelayLimit>(() => ask(`/v1/admin/relays/${relay.name}/limit`), 30, [relay.name, relay.hosts]);
  return (
    <Card title={l.limit}>
      {relay.trouble && <p class="bad">{relay.trouble}</p>}
      {!found ? <Missing wrong={wrong} /> : <p>{found.sentence}</p>}
      {found && found.never_measured.length > 0 && <p class="calm">{l.neverMeasured(found.never_measured.join(", ").replace(/ \(--[a-z-]+\)/g, ""))}</p>}
    </Card>
  );
}

export function Relays() {
  const news = `${useActs()} ${hostNews()}`;
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 5, [], news);
  const of = (relays ?? []).map(each => each.host ?? 0).filter(Boolean);
  const [hosts] = usePolled<Map<number, Host>>(async () => new Map((await Promise.all(of.slice(0, relaysLooked).map(id => ask<Host>(`/v1/admin/hosts/${id}`)))).map(host => [host.id, host])), 10, [of.join()], news);
  const working = (relays ?? []).filter(each => each.state === "active").slice(0, limitsAsked).map(each => each.name);
  const [limits] = usePolled<Map<string, RelayLimit>>(async () => {
    const found = await Promise.allSettled(working.map(name => ask<RelayLimit>(`/v1/admin/relays/${name}/limit`)));
    return new Map(found.flatMap(each => (each.status === "fulfilled" ? [[each.value.relay, each.value] as const] : [])));
  }, 30, [working.join()]);
  if (!relays) return <><Heading>{t.relays}</Heading><Missing wrong={wrong} /></>;
  const known = new Set(of);
  const tops = relays.filter(each => !each.relay || !known.has(each.relay));
  const rows: Line[] = [];
  const add = (relay: Relay, depth: number) => {
    rows.push({ relay, depth });
    if (relay.host && depth < depthMax) for (const below of relays.filter(each => each.relay === relay.host)) add(below, depth + 1);
  };
  for (const relay of tops) add(relay, 0);
  const now = live.value?.status.now ?? 0, text = query("text").toLowerCase(), sort = query("sort");
  const limit = ({ relay }: Line) => limitOf(relay, hosts?.get(relay.host ?? 0), limits?.get(relay.name), now);
  const state = ({ relay }: Line) => shared.states[relay.state] ?? relay.state;
  const found = rows.filter(row => !text || `${row.relay.name} ${state(row)} ${limit(row)[0]}`.toLowerCase().includes(text));
  const name = ({ relay }: Line) => (relay.host ? <a href={`#/hosts/${relay.host}`}>{relay.name}</a> : <>{relay.name}</>);
  const under = ({ relay }: Line) => relay.host && relay.hosts > 0 ? <a class="number" href={`#/hosts?relay=${relay.host}`}>{t.of(plural(relay.hosts, t.nHosts), count(relay.children))}</a> : <span class="number calm">{l.noHostsOf(count(relay.children))}</span>;
  const columns: Column<Line>[] = [
    { id: "name", name: l.relay, width: "2fr", order: row => row.relay.name, cell: row => <span class={text || sort ? "" : `depth${row.depth}`} title={row.relay.name}>{name(row)}</span> },
    { id: "state", name: t.state, width: "8rem", order: state, cell: row => <State of={row.relay.state} /> },
    { id: "hosts", name: l.hostsOfQuota, width: "2fr", order: ({ relay }) => relay.hosts, cell: row => <span class="bar"><progress max={1} value={row.relay.children > 0 ? row.relay.hosts / row.relay.children : 0} aria-label={l.quotaOf(row.relay.name)} />{under(row)}</span> },
    { id: "limit", name: l.limit, width: "2fr", order: row => limit(row)[0], cell: row => <span class={limit(row)[1] ? "bad" : ""} title={limit(row)[1] ? limit(row)[0] : limits?.get(row.relay.name)?.sentence ?? limit(row)[0]}>{limit(row)[0]}</span> },
    { id: "contact", name: t.lastContact, width: "7rem", order: ({ relay }) => relay.last_contact, cell: ({ relay }) => (relay.last_contact > 0 ? ago(now - relay.last_contact) : "–"), number: true },
  ];
  const brief = (row: Line) => <><span><span>{name(row)}</span><State of={row.relay.state} /></span><span>{under(row)}<small class={limit(row)[1] ? "bad" : ""}>{limit(row)[0]}</small></span></>;
  return (
    <>
      <Heading>{t.relays}</Heading>
      {relays.length === 0 ? <Card title={l.relaysAndHosts} wide><p class="calm">{rich(l.noRelays)}</p></Card> : (
        <>
          <Find label={l.relayFilter}>
            <span class="calm" role="status">{t.of(count(found.length), count(relays.length))}</span>
          </Find>
          {found.length === 0 ? <p class="calm">{l.nothingMatches}</p> : <Rows label={t.relays} columns={columns} rows={found} id={row => row.relay.name} brief={brief} />}
        </>
      )}
    </>
  );
}
