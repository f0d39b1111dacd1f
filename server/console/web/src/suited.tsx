// What a problem needs of a host, how many of those online have it, and what the others lack.
import { ask, type Problem } from "./api";
import type { ProblemHosts, UnsuitedHosts } from "./messages";
import { Card, Missing, usePolled } from "./parts";
import { needsLink } from "./route";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { bytes, count, plural } from "./words";

// By its kind, which is the same in every language; a kind that is not known here has the server's words.
const words = (group: UnsuitedHosts): string => l.unsuited[group.kind]?.(group.value) ?? group.text;

export function SuitedHosts({ p }: { p: Problem }) {
  const [told, wrong] = usePolled<ProblemHosts>(() => ask(`/v1/admin/problems/${p.id}/hosts`), 10, [p.id, p.application]);
  if (!told) return <Card title={l.suitedHosts}><Missing wrong={wrong} /></Card>;
  return (
    <Card title={l.suitedHosts}>
      <p class={told.suited === 0 && told.hosts > 0 ? "bad" : undefined} role="status">{l.suitedOf(count(told.suited), plural(told.hosts, l.onlineHosts))}</p>
      <dl class="facts">
        <dt>{l.suitedFacts.needs}</dt><dd>{told.needs.length ? told.needs.map((need, i) => <>{i > 0 && ", "}<a href={needsLink([need])}>{need}</a></>) : t.none}</dd>
        <dt>{l.suitedFacts.platforms}</dt><dd>{told.platforms.includes("any") ? l.anyPlatform : told.platforms.join(", ")}</dd>
        <dt>{l.suitedFacts.kernel}</dt><dd>{l.memoryAndCores(bytes(told.memory_bytes), told.cores > 0 ? plural(told.cores, t.nCores) : l.allCores)}</dd>
      </dl>
      {told.unsuited.length > 0 && (
        <>
          <h3>{l.cannotCompute}</h3>
          <ul class="reasons">
            {told.unsuited.map(group => (
              <li key={`${group.kind} ${group.value}`}>
                <b>{words(group)}</b>
                <p class="calm">{plural(group.hosts, t.nHosts)}: {group.examples.map((host, i) => <>{i > 0 && ", "}<a href={`#/hosts/${host}`}>{group.names[i] || t.hostNumber(host)}</a></>)}{group.hosts > group.examples.length && t.andMore(plural(group.hosts - group.examples.length, t.moreHosts))}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
