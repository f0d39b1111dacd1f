import { useState } from "preact/hooks";
import { change, list, upload, type Problem } from "./api";
import { attempt, Heading, usePolled } from "./parts";
import { bytes } from "./words";

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
  if (!applications) return wrong ? <p role="alert">{wrong}</p> : <p aria-busy="true">Loading …</p>;
  if (applications.length === 0)
    return <><Heading>Add a problem</Heading><p>There is no application yet: <code>gleaner-admin app add</code> brings one.</p></>;

  const submit = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const parameters = Object.fromEntries(rows.filter(row => row.name.trim()).map(row => [row.name.trim(), valueOf(row.value.trim())]));
    setDoing("Adding …");
    const added = await attempt(async () => {
      const inputs = [];
      for (const { name, file } of files) {
        if (!file) continue;
        const digest = await upload(file, share => setDoing(`Sending ${file.name}: ${Math.round(100 * share)} %`));
        inputs.push({ name: name.trim() || file.name, digest, bytes: file.size });
      }
      setDoing("The application plans it …");
      return change<Problem>("/v1/admin/problems", {
        application: form.get("application"), name: String(form.get("name")).trim(), parameters: JSON.stringify(parameters), inputs,
        strategy: String(form.get("strategy") ?? "").trim(), validation: String(form.get("validation") ?? "").trim(),
      });
    }, "It is added.");
    setDoing("");
    if (added) location.hash = `#/problems/${added.id}`;
  };
  return (
    <>
      <Heading>Add a problem</Heading>
      <form onSubmit={submit} class="card fields">
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
        <div class="buttons"><button disabled={doing !== ""} id="add">Add it</button><span role="status">{doing}</span></div>
      </form>
    </>
  );
}
