// Relays as a tree: how many hosts are under each, and what limits it.
import { ask, list, type Host, type Relay } from "./api";
import { live } from "./live";
import { Card, Heading, Missing, State, Table, usePolled } from "./parts";
import { ago, bytes, count, duration, plural } from "./words";

const relaysLooked = 100, depthMax = 4;
const silentSeconds = 300;

// What limits a relay, in words: the worst first.
function limitOf(relay: Relay, host: Host | undefined, now: number): [string, boolean] {
  if (!relay.host) return ["has not joined yet", false];
  if (relay.state !== "active") return [relay.state, true];
  if (host?.on_hold) return [`on hold: ${host.on_hold}`, true];
  if (now > 0 && (now - relay.last_contact) / 1e6 > silentSeconds) return [`silent for ${duration((now - relay.last_contact) / 1e6)}: its hosts get no work`, true];
  if (host?.state_reason) return [host.state_reason, true];
  if (relay.hosts >= relay.children) return ["its quota of hosts is used up", true];
  const line = host?.speeds && host.speeds.upload_bytes_per_second > 0 ? `line up ${bytes(host.speeds.upload_bytes_per_second)}/s, down ${bytes(host.speeds.download_bytes_per_second)}/s` : "";
  return [line || "nothing known", false];
}

export function Relays() {
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 5, []);
  const of = (relays ?? []).map(each => each.host ?? 0).filter(Boolean);
  const [hosts] = usePolled<Map<number, Host>>(async () => new Map((await Promise.all(of.slice(0, relaysLooked).map(id => ask<Host>(`/v1/admin/hosts/${id}`)))).map(host => [host.id, host])), 10, [of.join()]);
  if (!relays) return <><Heading>Relays</Heading><Missing wrong={wrong} /></>;
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
      <Heading>Relays</Heading>
      <Card title="Relays and their hosts" wide>
        {relays.length === 0 ? <p class="calm">No relays. Run <code>gleaner-admin relay allow NAME --children N</code> to admit one.</p> : (
          <Table label="Relays">
            <thead><tr><th scope="col">Relay</th><th scope="col">State</th><th scope="col">Hosts, of its quota</th><th scope="col">Limit</th><th scope="col" class="n">Last contact</th></tr></thead>
            <tbody>
              {rows.map(([relay, depth]) => {
                const [limit, bad] = limitOf(relay, hosts?.get(relay.host ?? 0), now);
                return (
                  <tr key={relay.name}>
                    <th scope="row" class={`depth${depth}`}>{relay.host ? <a href={`#/hosts/${relay.host}`}>{relay.name}</a> : relay.name}</th>
                    <td><State of={relay.state} /></td>
                    <td><span class="bar"><progress max={1} value={relay.children > 0 ? relay.hosts / relay.children : 0} aria-label={`quota of ${relay.name}`} />
                      {relay.host && relay.hosts > 0 ? <a class="number" href={`#/hosts?relay=${relay.host}`}>{plural(relay.hosts, "host")} of {count(relay.children)}</a> : <span class="number calm">no hosts of {count(relay.children)}</span>}</span></td>
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
