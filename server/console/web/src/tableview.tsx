// A result that is a table of rows: the server sorts and filters it, and sends the rows that are looked at.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, change, may, type Problem, type ResultFile } from "./api";
import type { TablePage, TableRow } from "./messages";
import { attempt, Card, Choice, Missing } from "./parts";
import { query, show } from "./route";
import { RowResults } from "./rowresults";
import { Rows, type Column } from "./rows";
import { t as l } from "./strings/later";
import { count, plural } from "./words";

const pageRows = 200;
const pagesKept = 60;  // here; those looked at last
const askAfter = 60;  // milliseconds that the reader stays, so that not all pages that pass are fetched

// `file`: table.csv; `rows`: rows.tar, if there is one. `again`: the problem has changed. `onReady`: it has the height
// that it keeps.
export function TableView({ p, file, rows: archive, again, onReady }: { p: Problem; file: ResultFile; rows?: ResultFile; again: () => void; onReady: () => void }) {
  const failed = query("rows") === "failed", order = query("sort"), chosen = Number(query("row", "0"));
  const [head, setHead] = useState<TablePage>();
  const [wrong, setWrong] = useState("");
  const [, setNews] = useState(0);
  // By their numbers; `of`: of which table, filter and order. Those of the table before stay until the new ones are here.
  const pages = useRef(new Map<number, { of: string; rows: TableRow[] }>()), asked = useRef(new Set<number>()), which = useRef(""), seen = useRef([0, 0]), timer = useRef(0);
  which.current = `${file.digest} ${failed} ${order}`;

  const fetchPage = async (number: number) => {
    const of = which.current;
    if (pages.current.get(number)?.of === of || asked.current.has(number)) return;
    asked.current.add(number);
    try {
      const fields = new URLSearchParams({ from: `${number * pageRows}`, count: `${pageRows}`, order, failed: `${failed}` });
      const got = await ask<TablePage>(`/v1/admin/tables/${file.digest}?${fields.toString().replaceAll("+", "%20")}`);
      if (of !== which.current) return;
      pages.current.delete(number);  // so that it is the newest
      pages.current.set(number, { of, rows: got.page });
      for (const old of pages.current.keys()) if (pages.current.size > pagesKept) pages.current.delete(old);
      if (number === 0 || !head) setHead(got);
      setNews(Math.random());
      setWrong("");
    } catch (error) { if (of === which.current) setWrong((error as Error).message); }
    if (of === which.current) asked.current.delete(number);
  };
  const fetchSeen = () => { for (let number = Math.floor(seen.current[0] / pageRows); number * pageRows < seen.current[1]; ++number) void fetchPage(number); };
  useEffect(() => pages.current.clear(), [failed, order]);
  useEffect(() => {
    asked.current.clear();
    void fetchPage(0);
    fetchSeen();
    return () => clearTimeout(timer.current);
  }, [file.digest, failed, order]);
  useEffect(() => () => { which.current = ""; }, []);
  const [rowThere, setRowThere] = useState(!(archive && chosen > 0));
  useEffect(() => { if ((head || wrong) && rowThere) onReady(); }, [head !== undefined, wrong, rowThere]);
  const onShown = (from: number, to: number) => {
    seen.current = [from, to];
    clearTimeout(timer.current);
    timer.current = window.setTimeout(fetchSeen, askAfter);
  };

  const retry = () => void attempt(() => change(`/v1/admin/problems/${p.id}/retry-failed`), l.failedRunAgain(p.name)).then(again);
  const numbers = useMemo(() => Array.from({ length: head?.chosen ?? 0 }, (_, i) => i), [head?.chosen]);
  const row = (i: number): TableRow | undefined => pages.current.get(Math.floor(i / pageRows))?.rows[i % pageRows];
  const status = head?.columns.indexOf("status") ?? -1;
  const link = (value: string) => archive && Number(value) > 0
    ? <button type="button" class="link" aria-label={l.resultsOfRow(Number(value))} onClick={() => show({ row: value })}>{value}</button> : value;
  const columns = useMemo(() => head?.columns.map((name, i): Column<number> => ({
    id: name, name, width: "minmax(6rem, 1fr)", sorted: true, number: head.page.every(each => each.values[i] === "" || Number.isFinite(Number(each.values[i]))),
    cell: at => {
      const value = row(at)?.values[i];
      return value === undefined ? "…" : i === status && value !== "ok" ? <span class="bad">{value}</span> : name === "row" ? link(value) : <span title={value}>{value}</span>;
    },
  })) ?? [], [head?.columns.join(), file.digest, archive?.digest]);
  const brief = (at: number) => {
    const values = row(at)?.values;
    if (!values || !head) return <span>…</span>;
    const rest = head.columns.flatMap((name, i) => (i === 0 || i === status ? [] : [`${name} ${values[i] || "–"}`]));
    return <><span><b>{link(values[0])}</b><span class={values[status] === "ok" ? "fine" : "bad"}>{values[status]}</span></span><span><small>{rest.join(", ")}</small></span></>;
  };
  const tools = (
    <span class="buttons">
      {may("operator") && head !== undefined && head.failed > 0 && <button class="plain small" onClick={retry}>{l.runFailedAgain}</button>}
      <a class="button plain small" href={`/v1/blobs/${file.digest}`} download={file.name}>{l.asCsv}</a>
    </span>
  );
  return (
    <>
      <Card title={l.table} wide actions={tools}>
        {wrong && <p role="alert" class="bad">{wrong}</p>}
        {!head ? !wrong && <Missing wrong="" /> : (
          <>
            <div class="filter">
              <Choice label={l.rowsShown} of={[["", l.allRows(count(head.rows))], ["failed", l.failedRows(count(head.failed))]]} now={failed ? "failed" : ""} onChoose={value => show({ rows: value })} />
              <span class="calm" role="status">{head.rows < p.items ? l.rowsDone(count(head.rows), count(p.items)) : plural(head.chosen, l.rowsInAll)}</span>
            </div>
            {head.chosen === 0 ? <p class="calm">{l.noSuchRows}</p>
              : <div class="table-rows"><Rows key={`${failed}`} label={l.table} columns={columns} rows={numbers} id={i => i} brief={brief} onShown={onShown} /></div>}
          </>
        )}
      </Card>
      {archive && chosen > 0 && (head || wrong) && <RowResults file={archive} row={chosen} onReady={() => setRowThere(true)} onClose={() => show({ row: "" })} />}
    </>
  );
}
