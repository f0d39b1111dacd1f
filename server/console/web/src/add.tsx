import { useRef, useState } from "preact/hooks";
import { change, list, upload, type Estimate, type Problem } from "./api";
import { attempt, Heading, usePolled } from "./parts";
import { bytes, count, interval, percent, plural } from "./words";

interface Application { name: string; application_version: string; title: string }
interface Row { name: string; value: string }

// As `gleaner-admin problem add --param` reads it: what is JSON is that, anything else is text.
function valueOf(text: string): unknown {
  try { return JSON.parse(text); } catch { return text; }
}

export function Add() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, []);
  const [rows, setRows] = useState<Row[]>([{ name: "", value: "" }]);
  const [files, setFiles] = useState<{ name: string; file: File | null }[]>([]);
  const [doing, setDoing] = useState("");
  const [estimate, setEstimate] = useState<Estimate>();
  const place = useRef<HTMLFormElement>(null);
  if (!applications) return wrong ? <p role="alert">{wrong}</p> : <p aria-busy="true">Loading …</p>;
  if (applications.length === 0)
    return <><Heading>Add a problem</Heading><p>There is no application yet: <code>gleaner-admin app add</code> brings one.</p></>;

  // Sends the inputs, and asks `path` with what the form says.
  const send = async <T,>(path: string, meanwhile: string, good: string): Promise<T | undefined> => {
    const form = new FormData(place.current!);
    const parameters = Object.fromEntries(rows.filter(row => row.name.trim()).map(row => [row.name.trim(), valueOf(row.value.trim())]));
    setDoing(meanwhile);
    const answer = await attempt(async () => {
      const inputs = [];
      for (const { name, file } of files) {
        if (!file) continue;
        const digest = await upload(file, share => setDoing(`Sending ${file.name}: ${Math.round(100 * share)} %`));
        inputs.push({ name: name.trim() || file.name, digest, bytes: file.size });
      }
      setDoing("The application plans it …");
      return change<T>(path, {
        application: form.get("application"), name: String(form.get("name")).trim(), parameters: JSON.stringify(parameters), inputs,
        strategy: String(form.get("strategy") ?? "").trim(), validation: String(form.get("validation") ?? "").trim(),
      });
    }, good);
    setDoing("");
    return answer;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const added = await send<Problem>("/v1/admin/problems", "Adding …", "It is added.");
    if (added) location.hash = `#/problems/${added.id}`;
  };
  const look = async () => setEstimate(await send<Estimate>("/v1/admin/estimates", "Looking …", ""));
  return (
    <>
      <Heading>Add a problem</Heading>
      <form ref={place} onSubmit={submit} onChange={() => setEstimate(undefined)} class="card fields">
        <label for="application">Application</label>
        <select id="application" name="application">
          {[...applications].reverse().map(a => (
            <option key={`${a.name}@${a.application_version}`} value={`${a.name}@${a.application_version}`}>{a.title || a.name} ({a.name}@{a.application_version})</option>
          ))}
        </select>
        <label for="name">Name</label><input id="name" name="name" required maxLength={64} />
        <fieldset>
          <legend>Parameters</legend>
          <p class="calm">Which ones there are is in the application's own description; what is left out has its default.</p>
          {rows.map((row, i) => (
            <div class="pair" key={i}>
              <input aria-label={`name of parameter ${i + 1}`} placeholder="name" value={row.name}
                onInput={e => setRows(rows.map((r, j) => (j === i ? { ...r, name: e.currentTarget.value } : r)))} />
              <input aria-label={`value of parameter ${i + 1}`} placeholder="value" value={row.value}
                onInput={e => setRows(rows.map((r, j) => (j === i ? { ...r, value: e.currentTarget.value } : r)))} />
              <button type="button" class="plain" aria-label={`remove parameter ${i + 1}`} onClick={() => setRows(rows.filter((_, j) => j !== i))}>Remove</button>
            </div>
          ))}
          <button type="button" class="plain" id="more-parameters" onClick={() => setRows([...rows, { name: "", value: "" }])}>One more parameter</button>
        </fieldset>
        <fieldset>
          <legend>Inputs</legend>
          {files.map((each, i) => (
            <div class="pair" key={i}>
              <input aria-label={`name of input ${i + 1}`} placeholder="name" value={each.name}
                onInput={e => setFiles(files.map((f, j) => (j === i ? { ...f, name: e.currentTarget.value } : f)))} />
              <input type="file" aria-label={`file of input ${i + 1}`}
                onChange={e => setFiles(files.map((f, j) => (j === i ? { ...f, file: e.currentTarget.files?.[0] ?? null } : f)))} />
              <button type="button" class="plain" aria-label={`remove input ${i + 1}`} onClick={() => setFiles(files.filter((_, j) => j !== i))}>Remove</button>
              {each.file && <span class="calm">{bytes(each.file.size)}</span>}
            </div>
          ))}
          <button type="button" class="plain" onClick={() => setFiles([...files, { name: "", file: null }])}>Add an input</button>
        </fieldset>
        <details>
          <summary>More</summary>
          <div class="fields">
            <label for="strategy">Strategy</label><input id="strategy" name="strategy" placeholder="as the server's settings say" />
            <label for="validation">Validation</label><input id="validation" name="validation" placeholder="as the application asks for" />
          </div>
        </details>
        <div class="buttons">
          <button disabled={doing !== ""} id="add">Add it</button>
          <button type="button" class="plain" disabled={doing !== ""} onClick={look}>What would it take?</button>
          <span role="status">{doing}</span>
        </div>
        {estimate && <div class="estimate" role="status"><Forecast of={estimate} /></div>}
      </form>
    </>
  );
}

function Forecast({ of: e }: { of: Estimate }) {
  const from = e.tried === 0 ? "" : `, by ${plural(e.tried, "earlier problem")} ${e.same_parameters ? "with the same parameters" : "with other parameters, which may mislead"}`;
  return (
    <>
      <p><b>{e.eta_seconds < 0 ? `When it would be done is not known: ${e.waits}.` : `It would be done in ${interval(e.eta_seconds, e.eta_low_seconds, e.eta_high_seconds)}.`}</b></p>
      <p>{plural(e.items, "item")} in its first stage
        {e.core_seconds >= 0 && <>, {interval(e.core_seconds, e.core_low_seconds, e.core_high_seconds)} of a core's time{from}</>}.</p>
      <p class="calm">{plural(e.cores, "core")} of {plural(e.hosts, "host")} {e.cores === 1 ? "is" : "are"} online{e.share > 0 && e.share < 1 && <>; {percent(e.share)} of their time would be its</>}. Of all stages it has {count(e.cost)} units of cost.</p>
    </>
  );
}
