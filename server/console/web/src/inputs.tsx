// The input files of a new problem: each that its application declares, and any number of others, picked, dropped, or a whole directory.
import type { InputFile } from "./api";
import { Preview } from "./preview";
import { t as l } from "./strings/later";
import { bytes, plural } from "./words";

const listedMax = 8;  // undeclared inputs that are shown one by one
const filesMax = 1024;  // of one problem, as the server allows
// `digest`: the server has it.
export interface Given { name: string; file: File | null; declared?: InputFile; digest?: string }

const hidden = (name: string): boolean => name.startsWith(".");  // in a directory: a program's, not data

// All files of what was dropped, those in directories, too.
async function dropped(items: DataTransferItemList): Promise<File[]> {
  const found: File[] = [];
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (found.length > filesMax) return;
    if (entry.isFile) found.push(await new Promise((good, bad) => (entry as FileSystemFileEntry).file(good, bad)));
    else {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      // A directory is read in parts; an empty one is the end.
      for (let part = await next(reader); part.length > 0; part = await next(reader)) for (const each of part) if (!hidden(each.name)) await walk(each);
    }
  };
  const next = (reader: FileSystemDirectoryReader) => new Promise<FileSystemEntry[]>((good, bad) => reader.readEntries(good, bad));
  for (const entry of [...items].map(item => item.webkitGetAsEntry())) if (entry) await walk(entry);
  return found;
}

// Many at once, each by its own name; a file of the same name as one before takes its place.
function joined(files: Given[], list: Iterable<File>): Given[] {
  const added = new Map([...list].map(file => [file.name, { name: file.name, file }]));
  return [...files.filter(each => each.declared || ((each.file || each.name) && !added.has(each.name))), ...added.values()];
}

export function Inputs({ files, onChange, onFault }: { files: Given[]; onChange: (files: Given[]) => void; onFault: (fault: Error) => void }) {
  const others = files.filter(each => !each.declared);
  const many = others.length > listedMax;
  const take = (list: Iterable<File>) => {
    const all = joined(files, list);
    if (all.length > filesMax) onFault(new Error(l.tooManyFiles(filesMax)));
    else onChange(all);
  };
  const picked = ({ currentTarget: field }: { currentTarget: HTMLInputElement }) => {
    take([...field.files ?? []].filter(file => !(file.webkitRelativePath && hidden(file.name))));
    field.value = "";
  };
  const set = (i: number, part: Partial<Given>) => onChange(files.map((f, j) => (j === i ? { ...f, ...part, ...("file" in part ? { digest: undefined } : {}) } : f)));
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (event.dataTransfer) void dropped(event.dataTransfer.items).then(take, onFault);
  };
  return (
    <fieldset onDragOver={e => e.preventDefault()} onDrop={drop}>
      <legend>{l.inputs}</legend>
      {many && <p>{plural(others.filter(each => each.file).length, l.filesOf)}, {bytes(others.reduce((sum, each) => sum + (each.file?.size ?? 0), 0))} <button type="button" class="link" onClick={() => onChange(files.filter(each => each.declared))}>{l.removeAll}</button></p>}
      {files.map((each, i) => each.declared ? (
        <div class="fields" key={each.name}>
          <label for={`input-${each.name}`}>{each.declared.required ? l.required(each.name) : each.name}</label>
          <div>
            <input type="file" id={`input-${each.name}`} required={each.declared.required} aria-describedby={`input-${each.name}-hint`} onChange={e => set(i, { file: e.currentTarget.files?.[0] ?? null })} />
            <small id={`input-${each.name}-hint`}>{[each.declared.meaning, each.file && bytes(each.file.size)].filter(Boolean).join("; ")}</small>
            {each.file && <Preview name={each.file.name} content={each.file} />}
          </div>
        </div>
      ) : !many && (
        <div key={i}>
          <div class="pair">
            <input aria-label={l.inputName(i + 1)} placeholder={l.nameHint} value={each.name} onInput={e => set(i, { name: e.currentTarget.value })} />
            {each.file ? <span class="calm">{bytes(each.file.size)}</span> : <input type="file" aria-label={l.inputFile(i + 1)} onChange={e => set(i, { file: e.currentTarget.files?.[0] ?? null })} />}
            <button type="button" class="plain" aria-label={l.removeInput(i + 1)} onClick={() => onChange(files.filter((_, j) => j !== i))}>{l.remove}</button>
          </div>
          {each.file && <Preview name={each.file.name} content={each.file} />}
        </div>
      ))}
      <div class="buttons">
        <button type="button" class="plain" onClick={() => onChange([...files, { name: "", file: null }])}>{l.addInput}</button>
        <label class="button plain">{l.addFiles}<input id="files" type="file" multiple class="unseen" onChange={picked} /></label>
        <label class="button plain">{l.addDirectory}<input id="directory" type="file" {...{ webkitdirectory: true }} class="unseen" onChange={picked} /></label>
        <span class="calm">{l.orDrop}</span>
      </div>
    </fieldset>
  );
}
