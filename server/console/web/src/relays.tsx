// Relays as a tree, and how many hosts are under each.
import { list, type Relay } from "./api";
import { Card, Heading, Missing, State, usePolled } from "./parts";
import { count, plural, time } from "./words";

// And what is wrong, if they cannot be told.
export const useRelays = (): [Relay[], string] => {
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 30, []);
  return [relays ?? [], wrong];
};
export const relayOf = (relays: Relay[], host: number): string => relays.find(each => each.host === host)?.name ?? `host ${host}`;

export function RelayPage() {
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 10, []);
  if (!relays) return <><Heading>Relays</Heading><Missing wrong={wrong} /></>;
  const known = new Set(relays.map(each => each.host));
  return (
    <>
      <Heading>Relays</Heading>
      <Card title="Relays and their hosts" wide>
        {relays.length === 0 ? <p class="calm">No relays. Run <code>gleaner-admin relay allow NAME --children N</code> to admit one.</p>
          : <Under relays={relays} of={relays.filter(each => !each.relay || !known.has(each.relay))} />}
      </Card>
    </>
  );
}

function Under({ relays, of }: { relays: Relay[]; of: Relay[] }) {
  return (
    <ul class="tree">
      {of.map(relay => {
        const below = relay.host ? relays.filter(each => each.relay === relay.host) : [];
        return (
          <li key={relay.name}>
            {relay.host ? <a href={`#/hosts/${relay.host}`}>{relay.name}</a> : relay.name} <State of={relay.state} />{" "}
            {relay.host && relay.hosts > 0 ? <a class="tag" href={`#/hosts?relay=${relay.host}`}>{plural(relay.hosts, "host")} of {count(relay.children)}</a>
              : <span class="calm">no hosts of {count(relay.children)}</span>}
            {relay.last_contact > 0 && <span class="calm"> last contact {time(relay.last_contact)}</span>}
            {below.length > 0 && <Under relays={relays} of={below} />}
          </li>
        );
      })}
    </ul>
  );
}
