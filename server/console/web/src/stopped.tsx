// What an administrator can do about a problem: pause and cancel it, and bring back one that is stopped or failed.
import { useState } from "preact/hooks";
import { change, idOf, list, may, type Application, type Problem } from "./api";
import { Ask, attempt, usePolled } from "./parts";
import { over, plural, reasonOf } from "./words";

const actsOn = (p: Problem, again: () => void) => (verb: string, good: string, body: object = {}) =>
  void attempt(() => change(`/v1/admin/problems/${p.id}/${verb}`, body), good).then(again);
const failedSome = (p: Problem) => p.set_aside.some(each => each.message.startsWith("set aside"));

export function Controls({ p, again }: { p: Problem; again: () => void }) {
  const [asking, setAsking] = useState(false);
  if (!may("operator") || over(p.state)) return null;
  const act = actsOn(p, again);
  return (
    <div class="buttons">
      {p.state === "running" && <button onClick={() => act("pause", `${p.name} paused.`)}>Pause</button>}
      {p.state === "paused" && <button onClick={() => act("resume", `${p.name} resumed.`)}>Resume</button>}
      <button class="plain" onClick={() => setAsking(true)}>Cancel</button>
      {asking && (
        <Ask title={`Cancel ${p.name}?`} yes="Cancel problem" no="Back" onAnswer={sure => { setAsking(false); if (sure) act("cancel", `${p.name} cancelled.`); }}>
          <p>Computing stops for good. This cannot be undone. {plural(p.accepted, "accepted item")} can still be downloaded.</p>
        </Ask>
      )}
    </div>
  );
}

// The reason, and what the server advises; what the buttons do need not be read.
function parts(message: string): [string, string] {
  const text = reasonOf({ message });
  if (text !== message.replace(/^stopped: /, "").trim()) return [text, ""];
  const end = /[.:] (?=[A-Z]|put |`)/.exec(text);
  return end ? [`${text.slice(0, end.index)}.`, text.slice(end.index + 2).replace(/^./, first => first.toUpperCase())] : [text, ""];
}

// Why it does not go on, and what can be done here. `onPartial`: fetches what is accepted.
export function Trouble({ p, again, onPartial }: { p: Problem; again: () => void; onPartial: () => void }) {
  const [reason, advice] = parts(p.message);
  const act = actsOn(p, again);
  if (p.state !== "stopped" && p.state !== "failed" && !failedSome(p)) return p.message ? <p class="calm">{p.message}</p> : null;
  const words = p.state === "stopped" ? "Stopped" : p.state === "failed" ? "Failed" : "Some items are quarantined";
  return (
    <section class="attention trouble" aria-label={words}>
      <p><b>{words}{reason && ":"}</b> {reason}</p>
      {advice && <p>{advice}</p>}
      {may("operator") && p.state !== "cancelled" && p.state !== "finished" && (
        <div class="buttons">
          <button onClick={() => act("retry", `${p.name} is tried again.`)}>{p.state === "stopped" ? "Retry" : "Retry failed items"}</button>
          <Versions p={p} again={again} />
          {p.accepted > 0 && <button class="plain" onClick={onPartial}>Fetch partial result</button>}
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
  if (others.length === 0) return <span class="calm">No other version of {name} is here: add a fixed one with <code>gleaner-admin app add</code>.</span>;
  const submit = (event: Event) => {
    event.preventDefault();
    const application = String(new FormData(event.target as HTMLFormElement).get("version"));
    actsOn(p, again)("application", `${p.name} continues with ${application}.`, { application });
  };
  return (
    <form class="one-line" onSubmit={submit}>
      <select id="version" name="version" aria-label="Another version">{others.map(each => <option key={each}>{each}</option>)}</select>
      <button class="plain">Use this version</button>
    </form>
  );
}
