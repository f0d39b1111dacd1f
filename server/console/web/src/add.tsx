import { useEffect, useRef, useState } from "preact/hooks";
import { ask, change, idOf, list, upload, type Application, type Estimate, type InputFile, type Problem } from "./api";
import { DeclaredFields, FreeFields, parametersText, type Row } from "./parameters";
import { attempt, Heading, Missing, rich, usePolled } from "./parts";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
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
    return <><Heading>{t.add}</Heading><p>{rich(l.noApplications)}</p></>;

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
        const digest = await upload(file, share => setDoing(l.sending(file.name, Math.round(100 * share))));
        inputs.push({ name: name.trim() || file.name, digest, bytes: file.size });
      }
      setDoing(l.planning);
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
    const added = await send<Problem>("/v1/admin/problems", l.adding, l.addedSaid);
    if (added) location.hash = `#/problems/${added.id}`;
  };
  const look = async () => setEstimate(await send<Estimate>("/v1/admin/estimates", l.estimating, ""));
  return (
    <>
      <Heading>{t.add}</Heading>
      <form ref={place} onSubmit={submit} onChange={() => setEstimate(undefined)} class="card fields">
        <label for="application">{t.application}</label>
        <select id="application" name="application" value={wanted} onChange={e => setChosen(e.currentTarget.value)}>
          {[...applications].reverse().map(a => (
            <option key={idOf(a)} value={idOf(a)}>{a.title || a.name} ({idOf(a)})</option>
          ))}
        </select>
        <label for="name">{l.required(l.name)}</label><input id="name" name="name" required maxLength={64} />
        <fieldset>
          <legend>{l.parameters}</legend>
          {!application ? <p aria-busy="true">{shared.loading}</p>
            : declared.length > 0 ? <DeclaredFields declared={declared} rows={rows} complaint={complaint} onChange={setRows} />
              : <FreeFields rows={rows} onChange={setRows} />}
        </fieldset>
        <fieldset onDragOver={e => e.preventDefault()} onDrop={e => { e.preventDefault(); take(e.dataTransfer?.files ?? []); }}>
          <legend>{l.inputs}</legend>
          {many && <p>{plural(files.filter(each => each.file).length, l.filesOf)}, {bytes(files.reduce((sum, each) => sum + (each.file?.size ?? 0), 0))} <button type="button" class="link" onClick={() => setFiles(files.filter(each => each.declared))}>{l.removeAll}</button></p>}
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
              <input aria-label={l.inputName(i + 1)} placeholder={l.nameHint} value={each.name} onInput={e => setFile(i, { name: e.currentTarget.value })} />
              <input type="file" aria-label={l.inputFile(i + 1)} onChange={e => setFile(i, { file: e.currentTarget.files?.[0] ?? null })} />
              <button type="button" class="plain" aria-label={l.removeInput(i + 1)} onClick={() => setFiles(files.filter((_, j) => j !== i))}>{l.remove}</button>
              {each.file && <span class="calm">{bytes(each.file.size)}</span>}
            </div>
          ))}
          <div class="buttons">
            <button type="button" class="plain" onClick={() => setFiles([...files, { name: "", file: null }])}>{l.addInput}</button>
            <label class="button plain">{l.addFiles}<input id="files" type="file" multiple class="unseen" onChange={e => { take(e.currentTarget.files ?? []); e.currentTarget.value = ""; }} /></label>
            <span class="calm">{l.orDrop}</span>
          </div>
        </fieldset>
        <details>
          <summary>{l.more}</summary>
          <div class="fields">
            <label for="strategy">{t.strategy}</label><input id="strategy" name="strategy" placeholder={l.serverDefault} />
            <label for="validation">{l.validation}</label><input id="validation" name="validation" placeholder={l.applicationDefault} />
          </div>
        </details>
        {complaint && <p class="bad">{complaint}</p>}
        <div class="buttons">
          <button disabled={doing !== ""} id="add">{l.start}</button>
          <button type="button" class="plain" disabled={doing !== ""} onClick={look}>{l.estimate}</button>
          <span role="status">{doing}</span>
        </div>
        {estimate && <div class="estimate" role="status"><Forecast of={estimate} /></div>}
      </form>
    </>
  );
}

function Forecast({ of: e }: { of: Estimate }) {
  const items = plural(e.items, l.nItems), time = interval(e.core_seconds, e.core_low_seconds, e.core_high_seconds);
  return (
    <>
      <p><b>{e.eta_seconds < 0 ? l.noEstimate(e.waits) : l.expected(interval(e.eta_seconds, e.eta_low_seconds, e.eta_high_seconds))}</b></p>
      <p>{e.core_seconds < 0 ? l.inFirstStage(items) : e.tried === 0 ? l.inFirstStageCost(items, time) : l.inFirstStageTried(items, time, plural(e.tried, e.same_parameters ? l.earlierSame : l.earlierOther))}</p>
      <p class="calm">{rich(plural(e.cores, l.coresOnline), { hosts: plural(e.hosts, t.nHosts) })} {e.share > 0 && e.share < 1 && l.shareOfThem(percent(e.share))} {plural(e.cost, l.totalCost)}</p>
    </>
  );
}
