// Relays as a tree, and how many hosts are under each.
import { list, type Relay } from "./api";
import { Card, State, usePolled } from "./parts";
import { count, plural } from "./words";

// And what is wrong, if they cannot be told.
export const useRelays = (): [Relay[], string] => {
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 30, []);
  return [relays ?? [], wrong];
};
export const relayOf = (relays: Relay[], host: number): string => relays.find(each => each.host === host)?.name ?? `host ${host}`;

interface Choice { relays: Relay[]; chosen: number; choose: (host: number) => void }

export function Relays({ relays, wrong, chosen, choose }: Choice & { wrong: string }) {
  if (wrong) return <p role="alert" class="bad">{wrong}</p>;
  if (relays.length === 0) return null;
  const known = new Set(relays.map(each => each.host));
  return (
    <Card title="Relays" wide actions={chosen > 0 && <button class="plain" onClick={() => choose(0)}>All hosts</button>}>
      <Under relays={relays} of={relays.filter(each => !each.relay || !known.has(each.relay))} chosen={chosen} choose={choose} />
    </Card>
  );
}

function Under({ of, ...rest }: Choice & { of: Relay[] }) {
  const { relays, chosen, choose } = rest;
  return (
    <ul class="tree">
      {of.map(relay => {
        const below = relay.host ? relays.filter(each => each.relay === relay.host) : [];
        return (
          <li key={relay.name}>
            {relay.host ? <a href={`#/hosts/${relay.host}`}>{relay.name}</a> : relay.name} <State of={relay.state} />{" "}
            {relay.host && relay.hosts > 0
              ? <button type="button" class="tag" aria-pressed={chosen === relay.host} onClick={() => choose(chosen === relay.host ? 0 : relay.host!)}>{plural(relay.hosts, "host")} of {count(relay.children)}</button>
              : <span class="calm">no hosts of {count(relay.children)}</span>}
            {below.length > 0 && <Under {...rest} of={below} />}
          </li>
        );
      })}
    </ul>
  );
}
