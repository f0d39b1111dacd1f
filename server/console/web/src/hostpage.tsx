// One host: what it does, has done and is, and what an operator can do about it.
import { useState } from "preact/hooks";
import { ask, change, list, may, type Host, type Unit } from "./api";
import { cores, Day, lent, stateOf, trust } from "./hosts";
import { Ask, attempt, Card, Crumbs, Figure, Heading, Missing, State, Strip, usePolled } from "./parts";
import { Bottleneck } from "./relaypage";
import { relayOf, useRelays } from "./relays";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { needsLink } from "./route";
import { Timeline } from "./timeline";
import { bytes, count, figure, percent, time } from "./words";

export function HostPage({ id }: { id: number }) {
  const path = `/v1/admin/hosts/${id}`;
  const [host, wrong, again] = usePolled<Host>(() => ask(path), 1, [id]);
  const [relays] = useRelays();
  const own = relays.find(each => each.host === id);
  const [units, noUnits] = usePolled<Unit[]>(() => list(`${path}/units?count=200`), 5, [id], host && `${host.open_units} ${host.items_accepted} ${host.failures} ${host.disagreements}`);
  if (!host) return <><Heading>{`${t.host} ${id}`}</Heading><Missing wrong={wrong} /></>;
  return (
    <>
      <Crumbs to="#/hosts" name={t.hosts} here={t.hostNumber(host.id)} />
      <div class="pagehead"><Heading>{host.name} <State of={stateOf(host)} /></Heading>{may("operator") && <HostControls host={host} path={path} again={again} />}</div>
      {host.on_hold && <p class="attention">{l.onHoldBecause(host.on_hold)}</p>}
      {!host.on_hold && host.state_reason && <p class="calm">{host.open_units > 0 ? l.saidLast(host.state_reason) : l.idle(host.state_reason)}</p>}
      <Strip>
        <Figure name={l.openUnits} value={count(host.open_units)} />
        <Figure name={l.coresLent} value={cores(host)} />
        <Figure name={t.itemsAccepted} value={count(host.items_accepted)} />
        <Figure name={l.failures} value={count(host.failures)} />
        <Figure name={l.disagreements} value={count(host.disagreements)} />
        <Figure name={l.trustName} value={trust(host)} />
        {host.readings?.cpu !== undefined && <Figure name={l.cpuInUse} value={percent(host.readings.cpu)} />}
        {host.readings?.memory !== undefined && <Figure name={l.memoryInUse} value={percent(host.readings.memory)} />}
        {host.readings?.celsius !== undefined && <Figure name={l.temperature} value={`${count(host.readings.celsius)} °C`} />}
      </Strip>
      <div class="cards">
        <Card title={t.units} wide>{!units ? <Missing wrong={noUnits} /> : units.length > 0 ? <Timeline units={units} /> : <p class="calm">{l.noUnits}</p>}</Card>
        <Card title={t.details}>
          <dl class="facts">
            <dt>{l.hostFacts.cores}</dt><dd>{cores(host)}, {lent(host.memory_lent, host.memory_bytes, bytes)}</dd>
            <dt>{l.hostFacts.speed}</dt><dd>{host.mflops ? `${figure(host.mflops)} Mflop/s` : l.notMeasured}</dd>
            <dt>{l.hostFacts.platform}</dt><dd>{host.platform}</dd>
            <dt>{l.hostFacts.offers}</dt><dd>{host.capabilities.length ? host.capabilities.map((each, i) => <>{i > 0 && ", "}<a href={needsLink([each.split(" ")[0]])}>{each}</a></>) : l.notReported}</dd>
            <dt>{l.hostFacts.client}</dt><dd>{host.client_version}</dd>
            <dt>{l.hostFacts.joined}</dt><dd>{l.joinedWith(time(host.enrolled_at), host.code || "default")}</dd>
            {host.relay && <><dt>{l.hostFacts.relay}</dt><dd><a href={`#/hosts/${host.relay}`}>{relayOf(relays, host.relay)}</a></dd></>}
            {own && <><dt>{l.hostFacts.under}</dt><dd>{t.of(count(own.hosts), count(own.children))}</dd></>}
            {host.cpu_day.length > 0 && <><dt>{t.dayColumn}</dt><dd><Day hours={host.cpu_day} /></dd></>}
            <dt>{l.hostFacts.contact}</dt><dd>{time(host.last_contact)}</dd>
            <dt>{l.hostFacts.tags}</dt><dd>{host.tags.join(", ") || t.none}</dd>
          </dl>
        </Card>
        {own && <Bottleneck relay={own} />}
        <Card title={l.tags}><Tags key={host.tags.join()} host={host} path={path} again={again} /></Card>
      </div>
    </>
  );
}

function Tags({ host, path, again }: { host: Host; path: string; again: () => void }) {
  const [tags, setTags] = useState(host.tags.join(", "));
  if (!may("operator")) return <p>{host.tags.join(", ") || l.noTags}</p>;
  const save = (event: Event) => {
    event.preventDefault();
    void attempt(() => change(`${path}/tags`, { tags: tags.split(",").map(each => each.trim()).filter(Boolean) }), l.tagsSaid(host.name)).then(again);
  };
  return (
    <form class="one-line" onSubmit={save}>
      <input id="tags" aria-label={l.tagsLabel} placeholder="lab, b12" value={tags} onInput={event => setTags(event.currentTarget.value)} /><button class="plain">{l.saveTags}</button>
    </form>
  );
}

function HostControls({ host, path, again }: { host: Host; path: string; again: () => void }) {
  const [asking, setAsking] = useState<"" | "revoke" | "hold">("");
  const [reason, setReason] = useState("");
  const act = (verb: string, good: string, body: object = {}) => attempt(() => change(`${path}/${verb}`, body), good).then(again);
  return (
    <div class="buttons">
      {host.on_hold ? <button onClick={() => act("release", l.releasedSaid(host.name))}>{l.release}</button>
        : host.state === "active" && <button onClick={() => setAsking("hold")}>{l.hold}</button>}
      {host.state === "active" && <button class="danger" onClick={() => setAsking("revoke")}>{l.revoke}</button>}
      {asking === "hold" && (
        <Ask title={l.holdAsk(host.name)} yes={l.holdYes} no={shared.back} eager onAnswer={sure => { setAsking(""); if (sure) void act("hold", l.heldSaid(host.name), { reason }); }}>
          <p>{l.holdWarning}</p>
          <p><label for="reason">{l.holdReason}</label> <input id="reason" value={reason} onInput={event => setReason(event.currentTarget.value)} /></p>
        </Ask>
      )}
      {asking === "revoke" && (
        <Ask title={l.revokeAsk(host.name)} yes={l.revokeYes} no={shared.back} onAnswer={sure => { setAsking(""); if (sure) void act("revoke", l.revokedSaid(host.name)); }}>
          <p>{l.revokeWarning}</p>
        </Ask>
      )}
    </div>
  );
}
