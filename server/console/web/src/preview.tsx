// Of a text of comma- or tab-separated values, what it begins with.
import { useEffect, useState } from "preact/hooks";
import { Table } from "./parts";
import { t as l } from "./strings/later";

const rowsShown = 5, columnsShown = 8, previewBytes = 64 << 10;

// The cells of a line of comma- or tab-separated values; quotes may hold separators.
function cells(line: string, separator: string): string[] {
  const found: string[] = [];
  let quoted = false, cell = "";
  for (const each of line) {
    if (each === '"') quoted = !quoted;
    else if (each === separator && !quoted) { found.push(cell); cell = ""; } else cell += each;
  }
  return [...found, cell];
}

// The first rows of a table of values, so that a wrong file is noticed before it is computed, and a result seen before it is downloaded.
export function Preview({ name, content }: { name: string; content: Blob }) {
  const [rows, setRows] = useState<string[][]>([]);
  const separator = /\.tsv$/i.test(name) ? "\t" : /\.csv$/i.test(name) ? "," : "";
  useEffect(() => {
    let gone = false;
    setRows([]);
    if (separator)
      void content.slice(0, previewBytes).text().then(text => {
        const lines = text.split(/\r?\n/);
        if (content.size > previewBytes) lines.pop();  // was cut
        if (!gone) setRows(lines.filter(Boolean).slice(0, rowsShown + 1).map(line => cells(line, separator).slice(0, columnsShown)));
      }, () => undefined);  // sending or downloading it says what is wrong with it
    return () => { gone = true; };
  }, [name, content]);
  if (rows.length === 0) return null;
  const [head, ...body] = rows;
  return (
    <Table label={l.firstRows(name)}>
      <thead><tr>{head.map((cell, i) => <th scope="col" key={i}>{cell}</th>)}</tr></thead>
      <tbody>{body.map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j}>{cell}</td>)}</tr>)}</tbody>
    </Table>
  );
}
