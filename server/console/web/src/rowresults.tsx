// The results of one row of a table: its files, cut out of rows.tar by the index behind it (shared/base/row_index.h), so that a row of a
// million costs three small requests.
import { useEffect, useState } from "preact/hooks";
import { piece, type ResultFile } from "./api";
import { Card, Missing } from "./parts";
import { t as l } from "./strings/later";
import { bytes } from "./words";

interface Entry { name: string; content: Uint8Array<ArrayBuffer> }
interface Row { tar: Blob; files: Entry[] }
const magic = "glnrows1", tail = 16, block = 512;
const rowMax = 64 << 20, textMax = 64 << 10;
const pictures: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };

const numbers = (data: ArrayBuffer) => [...new BigUint64Array(data)].map(Number);  // little-endian, as every browser's computer is
const text = (data: Uint8Array) => new TextDecoder().decode(data).replace(/\0.*$/s, "");

// Without one: the application was bundled before there was an index.
async function read(file: ResultFile, row: number): Promise<Row | null> {
  const end = await piece(file, file.bytes - tail, file.bytes);
  if (text(new Uint8Array(end, 0, 8)) !== magic) return null;
  const [rows] = numbers(end.slice(8));
  if (row < 1 || row > rows) throw new Error(l.noSuchRow(row));
  const at = file.bytes - tail - 8 * (rows + 1) + 8 * (row - 1);
  const [from, to] = numbers(await piece(file, at, at + 16));
  if (to - from > rowMax) throw new Error(l.rowTooLarge(bytes(to - from)));
  const content = from < to ? await piece(file, from, to) : new ArrayBuffer(0);
  return { tar: new Blob([content, new Uint8Array(2 * block)], { type: "application/x-tar" }), files: entries(new Uint8Array(content)) };
}

// Of a ustar archive, as the wrap's manager writes it.
function entries(tar: Uint8Array<ArrayBuffer>): Entry[] {
  const found: Entry[] = [];
  for (let at = 0; at + block <= tar.length;) {
    const size = parseInt(text(tar.subarray(at + 124, at + 136)), 8) || 0;
    found.push({ name: text(tar.subarray(at, at + 100)).replace(/^\d+\//, ""), content: tar.subarray(at + block, at + block + size) });
    at += block * (1 + Math.ceil(size / block));
  }
  return found;
}

// Its address lasts as long as the part of the page that shows it.
function useAddress(content: Blob): string {
  const [address, setAddress] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return address;
}

export function RowResults({ file, row, onReady, onClose }: { file: ResultFile; row: number; onReady: () => void; onClose: () => void }) {
  const [found, setFound] = useState<Row | null>();
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    let gone = false;
    setFound(undefined);
    setWrong("");
    read(file, row).then(got => { if (!gone) setFound(got); }, (error: Error) => { if (!gone) setWrong(error.message); });
    return () => { gone = true; };
  }, [file.digest, row]);
  useEffect(() => { if (wrong || found !== undefined) onReady(); }, [wrong, found]);
  return (
    <Card title={l.resultsOfRow(row)} wide actions={<span class="buttons">{found && found.files.length > 0 && <Tar row={row} tar={found.tar} />}<button class="plain small" onClick={onClose}>{l.closeRow}</button></span>}>
      {wrong || found === undefined ? <Missing wrong={wrong} />
        : found === null ? <p class="calm">{l.noRowIndex} <a href={`/v1/blobs/${file.digest}`} download={file.name}>{file.name}</a></p>
        : found.files.length === 0 ? <p class="calm">{l.rowHasNoFiles}</p>
        : <ul class="files">{found.files.map(each => <File key={each.name} entry={each} />)}</ul>}
    </Card>
  );
}

const Tar = ({ row, tar }: { row: number; tar: Blob }) => <a class="button plain small" href={useAddress(tar)} download={`row-${row}.tar`}>{l.rowAsTar}</a>;

function File({ entry }: { entry: Entry }) {
  const kind = pictures[entry.name.split(".").pop()!.toLowerCase()];
  const [content] = useState(() => new Blob([entry.content], { type: kind ?? "application/octet-stream" }));
  const address = useAddress(content);
  const words = !kind && entry.content.length <= textMax && !entry.content.includes(0) ? new TextDecoder().decode(entry.content) : "";
  return (
    <li>
      <a href={address} download={entry.name}>{entry.name}</a> <span class="calm">{bytes(entry.content.length)}</span>
      {kind && address && <img src={address} alt={entry.name} />}
      {words && <pre tabIndex={0}>{words}</pre>}
    </li>
  );
}
