// A result that is a table of rows: the server sorts and filters it, and sends a page at a time.
import { useEffect, useState } from "preact/hooks";
import { ask, change, may, type Problem, type ResultFile } from "./api";
import type { TablePage } from "./messages";
import { attempt, Card, Choice, Missing, Table } from "./parts";
import { query, show } from "./route";
import { t } from "./strings";
import { t as l } from "./strings/later";
import { count, plural } from "./words";

const pageRows = 100;

// `again`: the problem has changed.
export function TableView({ p, file, again }: { p: Problem; file: ResultFile; again: () => void }) {
  const failed = query("rows") === "failed", order = query("by"), from = Number(query("from", "0"));
  const [page, setPage] = useState<TablePage>();
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    let gone = false;
    const fields = new URLSearchParams({ from: `${from}`, count: `${pageRows}`, order, failed: `${failed}` });
    ask<TablePage>(`/v1/admin/tables/${file.digest}?${fields.toString().replaceAll("+", "%20")}`).then(
      got => { if (!gone) { setPage(got); setWrong(""); } }, (error: Error) => { if (!gone) setWrong(error.message); });
    return () => { gone = true; };
  }, [file.digest, failed, order, from]);
  const retry = () => void attempt(() => change(`/v1/admin/problems/${p.id}/retry-failed`), l.failedRunAgain(p.name)).then(again);
  const down = order.startsWith("-"), by = order.replace(/^-/, "");
  const turn = (column: string) => show({ by: column !== by ? column : down ? "" : `-${column}`, from: "" });
  const tools = (
    <span class="buttons">
      {may("operator") && page !== undefined && page.failed > 0 && <button class="plain small" onClick={retry}>{l.runFailedAgain}</button>}
      <a class="button plain small" href={`/v1/blobs/${file.digest}`} download={file.name}>{l.asCsv}</a>
    </span>
  );
  return (
    <Card title={l.table} wide actions={tools}>
      {wrong && <p role="alert" class="bad">{wrong}</p>}
      {!page ? !wrong && <Missing wrong="" /> : (
        <>
          <div class="filter">
            <Choice label={l.rowsShown} of={[["", l.allRows(count(page.rows))], ["failed", l.failedRows(count(page.failed))]]} now={failed ? "failed" : ""} onChoose={value => show({ rows: value, from: "" })} />
            <span class="calm" role="status">{page.rows < p.items ? l.rowsDone(count(page.rows), count(p.items)) : ""}</span>
          </div>
          {page.page.length === 0 ? <p class="calm">{l.noSuchRows}</p> : <div class="page-rows"><Page page={page} by={by} down={down} turn={turn} /></div>}
          <Pager page={page} />
        </>
      )}
    </Card>
  );
}

function Page({ page, by, down, turn }: { page: TablePage; by: string; down: boolean; turn: (column: string) => void }) {
  const status = page.columns.indexOf("status");
  const numeric = page.columns.map((_, i) => page.page.every(row => row.values[i] === "" || Number.isFinite(Number(row.values[i]))));
  return (
    <Table label={l.table}>
      <thead><tr>
        {page.columns.map((column, i) => (
          <th scope="col" key={column} class={numeric[i] ? "n" : undefined} aria-sort={column === by ? (down ? "descending" : "ascending") : undefined}>
            <button type="button" class="heading" onClick={() => turn(column)}>{column}<i aria-hidden="true">{column === by ? (down ? " ↓" : " ↑") : ""}</i></button>
          </th>
        ))}
      </tr></thead>
      <tbody>
        {page.page.map(row => (
          <tr key={row.values[0]}>{row.values.map((value, i) => <td key={i} class={numeric[i] ? "n" : i === status && value !== "ok" ? "bad" : undefined}>{value}</td>)}</tr>
        ))}
      </tbody>
    </Table>
  );
}

function Pager({ page }: { page: TablePage }) {
  const end = page.first + page.page.length, last = Math.max(0, Math.ceil(page.chosen / pageRows) - 1) * pageRows;
  if (page.chosen <= pageRows) return <p class="calm">{plural(page.chosen, l.rowsInAll)}</p>;
  const to = (from: number) => () => show({ from: from > 0 ? `${from}` : "" });
  return (
    <div class="filter" role="navigation" aria-label={l.pages}>
      <button class="plain small" disabled={page.first === 0} onClick={to(0)}>{l.first}</button>
      <button class="plain small" disabled={page.first === 0} onClick={to(page.first - pageRows)}>{l.before}</button>
      <span class="calm" role="status">{t.of(`${count(page.first + 1)}–${count(end)}`, count(page.chosen))}</span>
      <button class="plain small" disabled={end >= page.chosen} onClick={to(page.first + pageRows)}>{l.next}</button>
      <button class="plain small" disabled={end >= page.chosen} onClick={to(last)}>{l.last}</button>
    </div>
  );
}
