// Results: their files, one by one or as an archive, with what can be seen of them here.
import { useEffect, useState } from "preact/hooks";
import { blob, type ResultFile } from "./api";
import { Further } from "./fetched";
import { attempt } from "./parts";
import { t } from "./strings";
import { bytes } from "./words";

const shownMax = 32 << 20, tableMax = 4 << 20;
const archiveMax = 2 ** 31;
export const isPicture = (file: ResultFile) => /^image\/(png|jpeg|gif|webp)$/.test(file.media_type) && file.bytes < shownMax;
// table.csv has a card of its own (tableview.tsx).
const isTable = (file: ResultFile) => /\.[ct]sv$/i.test(file.name) && file.name !== "table.csv" && file.bytes < tableMax;

// `bare`: the pictures alone. `archive`: the name of an archive of them all.
export function Files({ files, bare, archive }: { files: ResultFile[]; bare?: boolean; archive?: string }) {
  const sum = files.reduce((all, file) => all + file.bytes, 0);
  return (
    <>
      <ul class="files">
        {files.map(file => (
          <li key={file.name}>
            {!bare && <><a href={`/v1/blobs/${file.digest}`} download={file.name}>{file.name}</a> <span class="calm">{bytes(file.bytes)}</span></>}
            {isPicture(file) && <Picture file={file} />}
            {!bare && isTable(file) && <Rows file={file} />}
          </li>
        ))}
      </ul>
      {archive && files.length > 1 && (sum < archiveMax ? <Archive files={files} name={archive} /> : <p class="calm">{t.archiveTooLarge}</p>)}
    </>
  );
}

// The file's content, once it is here; its link says what is wrong with it.
function useContent(file: ResultFile): Blob | undefined {
  const [content, setContent] = useState<Blob>();
  useEffect(() => {
    let gone = false;
    blob(file).then(found => { if (!gone) setContent(() => found); }, () => undefined);
    return () => { gone = true; };
  }, [file.digest]);
  return content;
}

function Picture({ file }: { file: ResultFile }) {
  const content = useContent(file);
  const [address, setAddress] = useState("");
  useEffect(() => { if (content) setAddress(URL.createObjectURL(content)); }, [content]);
  // The picture before stays until the next is here.
  useEffect(() => () => { if (address) URL.revokeObjectURL(address); }, [address]);
  return address ? <img src={address} alt={file.name} /> : <div class="img" />;
}

function Rows({ file }: { file: ResultFile }) {
  const content = useContent(file);
  return content ? <Further of={({ Preview }) => <Preview name={file.name} content={content} />} /> : null;
}

function Archive({ files, name }: { files: ResultFile[]; name: string }) {
  const [doing, setDoing] = useState("");
  const make = () => attempt(async () => {
    const contents = [];
    for (const file of files) {
      setDoing(file.name);
      contents.push({ name: file.name, content: await blob(file) });
    }
    const { zip } = await import("./further");
    const address = URL.createObjectURL(await zip(contents));
    const link = document.createElement("a");
    link.href = address;
    link.download = `${name}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);  // the browser has taken it up by then
  }).finally(() => setDoing(""));
  return <p><button class="plain small" disabled={doing !== ""} onClick={() => void make()}>{t.asArchive}</button> <span class="calm" role="status">{doing}</span></p>;
}
