// Relays as other pages name them.
import { list, type Relay } from "./api";
import { usePolled } from "./parts";
import { t } from "./strings";

// And what is wrong, if they cannot be told.
export const useRelays = (): [Relay[], string] => {
  const [relays, wrong] = usePolled<Relay[]>(() => list("/v1/admin/relays"), 30, []);
  return [relays ?? [], wrong];
};
export const relayOf = (relays: Relay[], host: number): string => relays.find(each => each.host === host)?.name ?? t.hostNumber(host);
