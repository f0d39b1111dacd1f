// The fields of a problem's parameters: from what its application declares, else names and values as they come.
import type { Parameter } from "./api";
import { shared } from "./strings";
import { t as l } from "./strings/later";

export interface Row { name: string; value: string }

// What is JSON is that, anything else is text; so are numbers with more digits than a double has, as `gleaner-admin problem add
// --param` reads them. The text itself, so that no digit of a large whole number is lost.
function jsonOf(text: string, type: string): string {
  if (type === "text" || type === "choice") return JSON.stringify(text);
  try { JSON.parse(text); } catch { return JSON.stringify(text); }
  const number = /^-?(\d+)(\.\d+)?([eE][-+]?\d+)?$/.exec(text);
  if (!number || !(number[2] || number[3])) return text;
  const digits = (number[1] + (number[2] ?? "")).replace(/\D/g, "").replace(/^0+/, "");
  const kept = digits.length <= 17 && Number.isFinite(+text) && (+text !== 0 || digits === "");
  return kept ? text : JSON.stringify(text);
}

export function parametersText(declared: Parameter[], rows: Row[]): string {
  const given = new Map<string, string>();
  for (const { name, value } of rows) {
    const type = declared.find(p => p.name === name.trim())?.type ?? "json";
    if (name.trim() && (value.trim() || declared.length === 0)) given.set(name.trim(), jsonOf(value.trim(), type));
  }
  return `{${[...given].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

const shown = (json: string): string => {
  const value: unknown = JSON.parse(json);
  return value === "" ? l.nothing : value === true ? l.yes : value === false ? l.no : typeof value === "string" ? value : json;
};

function bounds(p: Parameter): string {
  if (p.low !== undefined && p.high !== undefined) return shared.range(`${p.low}`, `${p.high}`);
  return p.low !== undefined ? l.from(p.low) : p.high !== undefined ? l.upTo(p.high) : "";
}

function Field({ of: p, value, wrong, onChange }: { of: Parameter; value: string; wrong: boolean; onChange: (value: string) => void }) {
  const id = `parameter-${p.name}`;
  const common = {
    id, value, required: p.required, "aria-describedby": `${id}-hint`, "aria-invalid": wrong,
    onInput: (e: { currentTarget: { value: string } }) => onChange(e.currentTarget.value),
  };
  const left = p.required ? "" : p.default_value ? shown(p.default_value) : "";
  const choices = p.type === "boolean" ? ["true", "false"] : p.type === "choice" ? p.choices ?? [] : undefined;
  return (
    <>
      <label for={id}>{p.required ? l.required(p.name.replace(/_/g, " ")) : p.name.replace(/_/g, " ")}</label>
      <div>
        {choices ? (
          <select {...common}>
            <option value="">{p.required ? l.choose : left ? l.byDefault(left) : l.itsDefault}</option>
            {choices.map(c => <option key={c} value={c}>{p.type === "boolean" ? (c === "true" ? l.yes : l.no) : c}</option>)}
          </select>
        ) : (
          <input {...common} placeholder={left} maxLength={p.length || undefined} autocomplete="off"
            inputMode={p.type === "integer" ? "numeric" : p.type === "number" ? "decimal" : undefined}
            pattern={p.type === "integer" ? "\\s*-?[0-9]+\\s*" : undefined} title={p.type === "integer" ? l.wholeNumber : undefined} />
        )}
        <small id={`${id}-hint`}>{[p.meaning, bounds(p)].filter(Boolean).join("; ")}</small>
      </div>
    </>
  );
}

const few = 8; // fields that are seen at once

// `complaint`: what the server said of them, which begins with their names.
export function DeclaredFields({ declared, rows, complaint, onChange }: { declared: Parameter[]; rows: Row[]; complaint: string; onChange: (rows: Row[]) => void }) {
  const field = (p: Parameter) => (
    <Field key={p.name} of={p} value={rows.find(r => r.name === p.name)?.value ?? ""}
      wrong={complaint.split("; ").some(part => part.startsWith(`${p.name}: `))}
      onChange={value => onChange([...rows.filter(r => r.name !== p.name), { name: p.name, value }])} />
  );
  const rest = declared.slice(few);
  return (
    <>
      <div class="fields">{declared.slice(0, few).map(field)}</div>
      {rest.length > 0 && <details open={rest.some(p => complaint.includes(`${p.name}: `))}><summary>{l.moreParameters}</summary><div class="fields">{rest.map(field)}</div></details>}
    </>
  );
}

export function FreeFields({ rows, onChange }: { rows: Row[]; onChange: (rows: Row[]) => void }) {
  const change = (i: number, part: Partial<Row>) => onChange(rows.map((r, j) => (j === i ? { ...r, ...part } : r)));
  return (
    <>
      <p class="calm">{l.undeclared}</p>
      {rows.map((row, i) => (
        <div class="pair" key={i}>
          <input aria-label={l.parameterName(i + 1)} placeholder={l.nameHint} value={row.name} onInput={e => change(i, { name: e.currentTarget.value })} />
          <input aria-label={l.parameterValue(i + 1)} placeholder={l.valueHint} value={row.value} onInput={e => change(i, { value: e.currentTarget.value })} />
          <button type="button" class="plain" aria-label={l.removeParameter(i + 1)} onClick={() => onChange(rows.filter((_, j) => j !== i))}>{l.remove}</button>
        </div>
      ))}
      <button type="button" class="plain" id="more-parameters" onClick={() => onChange([...rows, { name: "", value: "" }])}>{l.addParameter}</button>
    </>
  );
}
