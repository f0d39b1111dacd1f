import { useEffect, useRef, useState } from "preact/hooks";
import { ask, change, idOf, list, upload, type Application, type Estimate, type InputFile, type Problem } from "./api";
import { DeclaredFields, FreeFields, parametersText, type Row } from "./parameters";
import { attempt, Heading, Missing, usePolled } from "./parts";
import { bytes, interval, percent, plural } from "./words";

const listedMax = 8;  // undeclared inputs that are shown one by one
interface Given { name: string; file: File | null; declared?: InputFile }

export function Add() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, []);
  const [chosen, setChosen] = useState("");
  const [application, setApplication] = useState<Application>();
  const [rows, setRows] = useState<Row[]>([]);
  const [files, setFiles] = useState<Given[]>([]);
  const [complaint, setComplaint] = useState("");
  const [doing, setDoing] = useState("");
  const [estimate, setEstimate] = useState<Estimate>();
  const place = useRef<HTMLFormElement>(null);
  const newest = applications?.length ? idOf(applications[applications.length - 1]) : "";
  const wanted = chosen || newest;
  useEffect(() => {
    let gone = false;
    setApplication(undefined);
    if (wanted)
      void attempt(async () => {
        const told = await ask<Application>(`/v1/admin/applications/${wanted}`);
        if (gone) return;
        setApplication(told);
        setRows(told.parameters?.length ? [] : [{ name: "", value: "" }]);
        setFiles((told.inputs ?? []).map(declared => ({ name: declared.name, file: null, declared })));
        setComplaint("");
      });
    return () => { gone = true; };
  }, [wanted]);
  // What was asked for and is not: seen where it is.
  useEffect(() => place.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [complaint]);
  if (!applications) return <Missing wrong={wrong} />;
  if (applications.length === 0)
    return <><Heading>Add a problem</Heading><p>No applications yet. Add one with <code>gleaner-admin app add</code>.</p></>;

  const declared = application?.parameters ?? [];
  // Many at once, each by its own name; a file of the same name as one before takes its place.
  const take = (list: Iterable<File>) => {
    const added = [...list].map(file => ({ name: file.name, file }));
    const names = new Set(added.map(each => each.name));
    setFiles([...files.filter(each => each.declared || ((each.file || each.name) && !names.has(each.name))), ...added]);
  };
  const many = files.filter(each => !each.declared).length > listedMax;
  const setFile = (i: number, part: Partial<Given>) => setFiles(files.map((f, j) => (j === i ? { ...f, ...part } : f)));

  // Sends the inputs, and asks `path` with what the form says.
  const send = async <T,>(path: string, meanwhile: string, good: string): Promise<T | undefined> => {
    const form = new FormData(place.current!);
    const parameters = parametersText(declared, rows);
    setDoing(meanwhile);
    setComplaint("");
    const answer = await attempt(async () => {
      const inputs = [];
      for (const { name, file } of files) {
        if (!file) continue;
        const digest = await upload(file, share => setDoing(`Sending ${file.name}: ${Math.round(100 * share)} %`));
        inputs.push({ name: name.trim() || file.name, digest, bytes: file.size });
      }
      setDoing("Planning …");
      return change<T>(path, {
        application: form.get("application"), name: String(form.get("name")).trim(), parameters, inputs,
        strategy: String(form.get("strategy") ?? "").trim(), validation: String(form.get("validation") ?? "").trim(),
      }).catch((error: Error) => { setComplaint(error.message); throw error; });
    }, good);
    setDoing("");
    return answer;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const added = await send<Problem>("/v1/admin/problems", "Adding …", "Problem added.");
    if (added) location.hash = `#/problems/${added.id}`;
  };
  const look = async () => setEstimate(await send<Estimate>("/v1/admin/estimates", "Estimating …", ""));
  return (
    <>
      <Heading>Add a problem</Heading>
      <form ref={place} onSubmit={submit} onChange={() => setEstimate(undefined)} class="card fields">
        <label for="application">Application</label>
        <select id="application" name="application" value={wanted} onChange={e => setChosen(e.currentTarget.value)}>
          {[...applications].reverse().map(a => (
            <option key={idOf(a)} value={idOf(a)}>{a.title || a.name} ({idOf(a)})</option>
          ))}
        </select>
        <label for="name">Name (required)</label><input id="name" name="name" required maxLength={64} />
        <fieldset>
          <legend>Parameters</legend>
          {!application ? <p aria-busy="true">Loading …</p>
            : declared.length > 0 ? <DeclaredFields declared={declared} rows={rows} complaint={complaint} onChange={setRows} />
              : <FreeFields rows={rows} onChange={setRows} />}
        </fieldset>
        <fieldset onDragOver={e => e.preventDefault()} onDrop={e => { e.preventDefault(); take(e.dataTransfer?.files ?? []); }}>
          <legend>Inputs</legend>
          {many && <p>{plural(files.filter(each => each.file).length, "file")}, {bytes(files.reduce((sum, each) => sum + (each.file?.size ?? 0), 0))} <button type="button" class="link" onClick={() => setFiles(files.filter(each => each.declared))}>Remove all</button></p>}
          {files.map((each, i) => many && !each.declared ? null : each.declared ? (
            <div class="fields" key={each.name}>
              <label for={`input-${each.name}`}>{each.name}</label>
              <div>
                <input type="file" id={`input-${each.name}`} required={each.declared.required} aria-describedby={`input-${each.name}-hint`}
                  onChange={e => setFile(i, { file: e.currentTarget.files?.[0] ?? null })} />
                <small id={`input-${each.name}-hint`}>{[each.declared.meaning, each.file && bytes(each.file.size)].filter(Boolean).join("; ")}</small>
              </div>
            </div>
          ) : (
            <div class="pair" key={i}>
              <input aria-label={`name of input ${i + 1}`} placeholder="name" value={each.name} onInput={e => setFile(i, { name: e.currentTarget.value })} />
              <input type="file" aria-label={`file of input ${i + 1}`} onChange={e => setFile(i, { file: e.currentTarget.files?.[0] ?? null })} />
              <button type="button" class="plain" aria-label={`remove input ${i + 1}`} onClick={() => setFiles(files.filter((_, j) => j !== i))}>Remove</button>
              {each.file && <span class="calm">{bytes(each.file.size)}</span>}
            </div>
          ))}
          <div class="buttons">
            <button type="button" class="plain" onClick={() => setFiles([...files, { name: "", file: null }])}>Add an input</button>
            <label class="button plain">Add files<input id="files" type="file" multiple class="unseen" onChange={e => { take(e.currentTarget.files ?? []); e.currentTarget.value = ""; }} /></label>
            <span class="calm">or drop files here</span>
          </div>
        </fieldset>
        <details>
          <summary>More</summary>
          <div class="fields">
            <label for="strategy">Strategy</label><input id="strategy" name="strategy" placeholder="server default" />
            <label for="validation">Validation</label><input id="validation" name="validation" placeholder="application default" />
          </div>
        </details>
        {complaint && <p class="bad">{complaint}</p>}
        <div class="buttons">
          <button disabled={doing !== ""} id="add">Start</button>
          <button type="button" class="plain" disabled={doing !== ""} onClick={look}>Estimate</button>
          <span role="status">{doing}</span>
        </div>
        {estimate && <div class="estimate" role="status"><Forecast of={estimate} /></div>}
      </form>
    </>
  );
}

function Forecast({ of: e }: { of: Estimate }) {
  const from = e.tried === 0 ? "" : `, from ${plural(e.tried, "earlier problem")} with ${e.same_parameters ? "the same" : "other"} parameters`;
  return (
    <>
      <p><b>{e.eta_seconds < 0 ? `No estimate yet: ${e.waits}.` : `Expected to finish in ${interval(e.eta_seconds, e.eta_low_seconds, e.eta_high_seconds)}.`}</b></p>
      <p>{plural(e.items, "item")} in the first stage
        {e.core_seconds >= 0 && <>, {interval(e.core_seconds, e.core_low_seconds, e.core_high_seconds)} of one core{from}</>}.</p>
      <p class="calm">{plural(e.cores, "core")} of {plural(e.hosts, "host")} {e.cores === 1 ? "is" : "are"} online{e.share > 0 && e.share < 1 && <>; this problem would get {percent(e.share)} of their time</>}. Total cost of all stages: {plural(e.cost, "unit")}.</p>
    </>
  );
}
