// What an administrator can do about a problem: pause and cancel it, and bring back one that is stopped or failed.
import { useState } from "preact/hooks";
import { change, idOf, list, may, type Application, type Problem } from "./api";
import { whyOf } from "./live";
import { Ask, attempt, rich, usePolled } from "./parts";
import { shared, t } from "./strings";
import { over, plural } from "./words";

const actsOn = (p: Problem, again: () => void) => (verb: string, good: string, body: object = {}) =>
  void attempt(() => change(`/v1/admin/problems/${p.id}/${verb}`, body), good).then(again);
const failedSome = (p: Problem) => p.set_aside.some(each => each.message.startsWith("set aside"));

export function Controls({ p, again }: { p: Problem; again: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!may("operator") || over(p.state)) return null;
  const act = actsOn(p, again);
  return (
    <div class="buttons">
      {p.state === "running" && <button onClick={() => act("pause", t.pausedSaid(p.name))}>{t.pause}</button>}
      {p.state === "paused" && <button onClick={() => act("resume", t.resumedSaid(p.name))}>{t.resume}</button>}
      <button class="plain" onClick={() => setAsking(true)}>{t.cancel}</button>
      {asking && (
        <Ask title={t.cancelAsk(p.name)} yes={t.cancelYes} no={shared.back} onAnswer={sure => { setAsking(false); if (sure) act("cancel", t.cancelledSaid(p.name)); }}>
          <p>{plural(p.accepted, t.cancelWarning)}</p>
        </Ask>
      )}
    </div>
  );
}

// The reason, and what the server advises; what the buttons do need not be read.
function parts(p: Problem): [string, string] {
  const text = whyOf(p);
  if (text !== p.message.replace(/^stopped: /, "").trim()) return [text, ""];
  const end = /[.:] (?=[A-Z]|put |`)/.exec(text);
  return end ? [`${text.slice(0, end.index)}.`, text.slice(end.index + 2).replace(/^./, first => first.toUpperCase())] : [text, ""];
}

// Why it does not go on, and what can be done here. `onPartial`: fetches what is accepted.
export function Trouble({ p, again, onPartial }: { p: Problem; again: () => void; onPartial: () => void }) {
  const [reason, advice] = parts(p);
  const act = actsOn(p, again);
  if (p.state !== "stopped" && p.state !== "failed" && !failedSome(p)) return p.message ? <p class="calm">{p.message}</p> : null;
  const words = p.state === "stopped" ? t.stopped : p.state === "failed" ? t.failed : t.someQuarantined;
  return (
    <section class="attention trouble" aria-label={words}>
      <p><b>{words}{reason && ":"}</b> {reason}</p>
      {advice && <p>{advice}</p>}
      {may("operator") && p.state !== "cancelled" && p.state !== "finished" && (
        <div class="buttons">
          <button onClick={() => act("retry", t.retriedSaid(p.name))}>{p.state === "stopped" ? t.retry : t.retryFailed}</button>
          <Versions p={p} again={again} />
          {p.accepted > 0 && <button class="plain" onClick={onPartial}>{t.fetchPartial}</button>}
        </div>
      )}
    </section>
  );
}

// Another version of its application, perhaps a fixed one, computes the rest and what failed.
export function Versions({ p, again }: { p: Problem; again: () => void }) {
  const [applications] = usePolled<Application[]>(() => list("/v1/admin/applications"), 10, [p.application]);
  const name = p.application.split("@")[0];
  const others = (applications ?? []).map(idOf).filter(each => each.split("@")[0] === name && each !== p.application).reverse();
  if (!applications) return null;
  if (others.length === 0) return <span class="calm">{rich(t.noOtherVersion(name))}</span>;
  const submit = (event: Event) => {
    event.preventDefault();
    const application = String(new FormData(event.target as HTMLFormElement).get("version"));
    actsOn(p, again)("application", t.versionSaid(p.name, application), { application });
  };
  return (
    <form class="one-line" onSubmit={submit}>
      <select id="version" name="version" aria-label={t.anotherVersionLabel}>{others.map(each => <option key={each}>{each}</option>)}</select>
      <button class="plain">{t.useVersion}</button>
    </form>
  );
}
