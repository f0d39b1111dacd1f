// Relays as a tree: how many hosts are under each, and what limits it.
import { useActs } from "./acts";
import { ask, list, type Host, type Relay } from "./api";
import { hostNews, live } from "./live";
import { Card, Heading, Missing, rich, State, Table, usePolled } from "./parts";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { ago, bytes, count, duration, plural } from "./words";

const relaysLooked = 100, depthMax = 4;
const silentSeconds = 300;

// What limits a relay, in words: the worst first.
function limitOf(relay: Relay, host: Host | undefined, now: number): [string, boolean] {
  if (!relay.host) return [l.notJoined, false];
  if (relay.state !== "active") return [shared.states[relay.state] ?? relay.state, true];
  if (host?.on_hold) return [l.onHold(host.on_hold), true];
  if (now > 0 && (now - relay.last_contact) / 1e6 > silentSeconds) return [l.silent(duration((now - relay.last_contact) / 1e6)), true];
  if (host?.state_reason) return [host.state_reason, true];
  if (relay.hosts >= relay.children) return [l.quotaUsed, true];
  const line = host?.speeds && host.speeds.upload_bytes_per_second > 0 ? l.line(bytes(host.speeds.upload_bytes_per_second), bytes(host.speeds.download_bytes_per_second)) : "";
  return [line || l.nothingKnown, false];
}

export function Relays() {
  const news = `${useActs()} ${hostNews()}`;
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 5, [], news);
  const of = (relays ?? []).map(each => each.host ?? 0).filter(Boolean);
  const [hosts] = usePolled<Map<number, Host>>(async () => new Map((await Promise.all(of.slice(0, relaysLooked).map(id => ask<Host>(`/v1/admin/hosts/${id}`)))).map(host => [host.id, host])), 10, [of.join()], news);
  if (!relays) return <><Heading>{t.relays}</Heading><Missing wrong={wrong} /></>;
  const known = new Set(of);
  const tops = relays.filter(each => !each.relay || !known.has(each.relay));
  const rows: [Relay, number][] = [];
  const add = (relay: Relay, depth: number) => {
    rows.push([relay, depth]);
    if (relay.host && depth < depthMax) for (const below of relays.filter(each => each.relay === relay.host)) add(below, depth + 1);
  };
  for (const relay of tops) add(relay, 0);
  const now = live.value?.status.now ?? 0;
  return (
    <>
      <Heading>{t.relays}</Heading>
      <Card title={l.relaysAndHosts} wide>
        {relays.length === 0 ? <p class="calm">{rich(l.noRelays)}</p> : (
          <Table label={t.relays}>
            <thead><tr><th scope="col">{l.relay}</th><th scope="col">{t.state}</th><th scope="col">{l.hostsOfQuota}</th><th scope="col">{l.limit}</th><th scope="col" class="n">{t.lastContact}</th></tr></thead>
            <tbody>
              {rows.map(([relay, depth]) => {
                const [limit, bad] = limitOf(relay, hosts?.get(relay.host ?? 0), now);
                return (
                  <tr key={relay.name}>
                    <th scope="row" class={`depth${depth}`}>{relay.host ? <a href={`#/hosts/${relay.host}`}>{relay.name}</a> : relay.name}</th>
                    <td><State of={relay.state} /></td>
                    <td><span class="bar"><progress max={1} value={relay.children > 0 ? relay.hosts / relay.children : 0} aria-label={l.quotaOf(relay.name)} />
                      {relay.host && relay.hosts > 0 ? <a class="number" href={`#/hosts?relay=${relay.host}`}>{t.of(plural(relay.hosts, t.nHosts), count(relay.children))}</a> : <span class="number calm">{l.noHostsOf(count(relay.children))}</span>}</span></td>
                    <td class={bad ? "bad" : ""}>{limit}</td>
                    <td class="n">{relay.last_contact > 0 ? ago(now - relay.last_contact) : "–"}</td>
                  </tr>
                );
              })}
            </tbody>
          </Table>
        )}
      </Card>
    </>
  );
}
