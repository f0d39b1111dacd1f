import { useEffect, useRef, useState } from "preact/hooks";
import { ask, change, idOf, list, upload, type Application, type Estimate, type Problem } from "./api";
import { Inputs, type Given } from "./inputs";
import { DeclaredFields, FreeFields, parametersText, type Row } from "./parameters";
import type { StrategyInfo } from "./messages";
import { attempt, Heading, Missing, rich, say, usePolled } from "./parts";
import { Rule } from "./rule";
import { shared, t } from "./strings";
import { t as l } from "./strings/later";
import { interval, percent, plural } from "./words";

const settledSeconds = 1;  // without a change, until an estimate is asked for

// The application `wanted`, and what the form has of its parameters and inputs.
function useDraft(wanted: string) {
  const [application, setApplication] = useState<Application>();
  const [rows, setRows] = useState<Row[]>([]);
  const [files, setFiles] = useState<Given[]>([]);
  useEffect(() => {
    let gone = false;
    setApplication(undefined);
    if (wanted)
      void attempt(async () => {
        const told = await ask<Application>(`/v1/admin/applications/${wanted}`);
        if (gone) return;
        setRows(told.parameters?.length ? [] : [{ name: "", value: "" }]);
        setFiles((told.inputs ?? []).map(declared => ({ name: declared.name, file: null, declared })));
        setApplication(told);
      });
    return () => { gone = true; };
  }, [wanted]);
  return { application, rows, setRows, files, setFiles };
}
type Draft = ReturnType<typeof useDraft>;

function body(form: HTMLFormElement, { application, rows, files }: Draft): object {
  const fields = new FormData(form);
  const text = (name: string) => String(fields.get(name) ?? "").trim();
  const inputs = files.filter(each => each.file && each.digest).map(({ name, file, digest }) => ({ name: name.trim() || file!.name, digest, bytes: file!.size }));
  return { application: idOf(application!), name: text("name"), parameters: parametersText(application!.parameters ?? [], rows), inputs, strategy: text("strategy"), validation: text("validation") };
}

// An application that declares nothing is not asked about before it is given something, nor by a name without a value.
const begun = ({ application, rows, files }: Draft): boolean => (application?.parameters ?? []).length > 0 || (application?.inputs ?? []).length > 0
  || ((rows.some(row => row.name.trim()) || files.some(each => each.file)) && rows.every(row => !row.name.trim() || row.value.trim()));

// What it would take, as one types: of a form that is complete but for its name, and whose files the server has.
function useEstimate(form: { current: HTMLFormElement | null }, draft: Draft, typed: number, busy: boolean) {
  const [estimate, setEstimate] = useState<Estimate>();
  const [why, setWhy] = useState("");
  const { application, rows, files } = draft;
  useEffect(() => {
    setEstimate(undefined);
    setWhy("");
    const filled = form.current;  // which the reader may have left when it is time
    const wrong = filled?.querySelector("input:not(#name):invalid, select:invalid");
    if (!application || !filled || busy || wrong || !begun(draft) || files.some(each => each.file && !each.digest)) return;
    let gone = false;
    const timer = window.setTimeout(() => {
      change<Estimate>("/v1/admin/estimates", body(filled, draft)).then(
        found => { if (!gone) setEstimate(found); }, (error: Error) => { if (!gone) setWhy(error.message); });
    }, settledSeconds * 1000);
    return () => { gone = true; clearTimeout(timer); };
  }, [application, rows, files, typed, busy]);
  return { estimate, why };
}

export function Add() {
  const [applications, wrong] = usePolled<Application[]>(() => list("/v1/admin/applications"), 0, []);
  const [strategies] = usePolled<StrategyInfo[]>(() => list("/v1/admin/strategies"), 0, []);
  const [chosen, setChosen] = useState("");
  const wanted = chosen || (applications?.length ? idOf(applications[applications.length - 1]) : "");
  const draft = useDraft(wanted);
  const { application, rows, setRows, files, setFiles } = draft;
  const [complaint, setComplaint] = useState("");
  const [doing, setDoing] = useState("");
  const [typed, setTyped] = useState(0);
  const place = useRef<HTMLFormElement>(null);
  const { estimate, why } = useEstimate(place, draft, typed, doing !== "");
  useEffect(() => setComplaint(""), [application]);
  // What was asked for and is not: seen where it is.
  useEffect(() => place.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [complaint]);
  if (!applications) return <Missing wrong={wrong} />;
  if (applications.length === 0) return <><Heading>{t.add}</Heading><p>{rich(l.noApplications)}</p></>;

  // Sends the files that the server does not have yet.
  const sendFiles = async (): Promise<Given[]> => {
    const sent: Given[] = [];
    for (const each of files) {
      const { file, digest } = each;
      sent.push(!file || digest ? each : { ...each, digest: await upload(file, share => setDoing(l.sending(file.name, Math.round(100 * share)))) });
    }
    setFiles(sent);
    return sent;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    setDoing(l.adding);
    setComplaint("");
    const added = await attempt(async () => {
      const sent = await sendFiles();
      setDoing(l.planning);
      return change<Problem>("/v1/admin/problems", body(place.current!, { ...draft, files: sent })).catch((error: Error) => { setComplaint(error.message); throw error; });
    }, l.addedSaid);
    setDoing("");
    if (added) location.hash = `#/problems/${added.id}`;
  };
  // What is asked of files by hand comes by itself once they are sent.
  const look = async () => { setDoing(l.estimating); await attempt(sendFiles); setDoing(""); };
  const unsent = files.some(each => each.file && !each.digest);
  return (
    <>
      <Heading>{t.add}</Heading>
      <form ref={place} onSubmit={submit} onInput={() => setTyped(typed + 1)} class="card fields">
        <label for="application">{t.application}</label>
        <select id="application" name="application" value={wanted} onChange={e => setChosen(e.currentTarget.value)}>
          {[...applications].reverse().map(a => <option key={idOf(a)} value={idOf(a)}>{a.title || a.name} ({idOf(a)})</option>)}
        </select>
        <label for="name">{l.required(l.name)}</label><input id="name" name="name" required maxLength={64} />
        <fieldset>
          <legend>{l.parameters}</legend>
          {!application ? <p aria-busy="true">{shared.loading}</p>
            : application.parameters?.length ? <DeclaredFields declared={application.parameters} rows={rows} complaint={complaint} onChange={setRows} />
              : <FreeFields rows={rows} onChange={setRows} />}
        </fieldset>
        <Inputs files={files} onChange={setFiles} onFault={fault => say(fault.message, true)} />
        <details>
          <summary>{l.more}</summary>
          <div class="fields">
            <Rule name="strategy" label={t.strategy} all={(strategies ?? []).filter(s => s.kind !== "straggler")} recommended="gleaner" otherwise={l.serverDefault} />
            <label for="validation">{l.validation}</label><input id="validation" name="validation" placeholder={l.applicationDefault} />
          </div>
        </details>
        {complaint && <p class="bad">{complaint}</p>}
        <div class="buttons">
          <button disabled={doing !== ""} id="add">{l.start}</button>
          {unsent && <button type="button" class="plain" disabled={doing !== ""} onClick={() => void look()}>{l.estimate}</button>}
          <span role="status">{doing}</span>
        </div>
        <div class="estimate" role="status">{estimate ? <Forecast of={estimate} /> : why && why !== complaint && <p class="calm">{l.noEstimate(why.replace(/\.$/, ""))}</p>}</div>
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
