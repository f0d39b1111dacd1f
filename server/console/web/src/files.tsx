// Results, with the pictures among them.
import { useEffect, useState } from "preact/hooks";
import { blob, type ResultFile } from "./api";
import { bytes } from "./words";

const shownMax = 32 << 20;

// `bare`: the pictures alone.
export function Files({ files, bare }: { files: ResultFile[]; bare?: boolean }) {
  return (
    <ul class="files">
      {files.map(file => (
        <li key={file.name}>
          {!bare && <><a href={`/v1/blobs/${file.digest}`} download={file.name}>{file.name}</a> <span class="calm">{bytes(file.bytes)}</span></>}
          {/^image\/(png|jpeg|gif|webp)$/.test(file.media_type) && file.bytes < shownMax && <Picture file={file} />}
        </li>
      ))}
    </ul>
  );
}

function Picture({ file }: { file: ResultFile }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    let gone = false;
    blob(file).then(content => { if (!gone) setAddress(URL.createObjectURL(content)); }, () => undefined);  // its link says what is wrong with it
    return () => { gone = true; };
  }, [file.digest]);
  // The picture before stays until the next is here.
  useEffect(() => () => { if (address) URL.revokeObjectURL(address); }, [address]);
  return address ? <img src={address} alt={file.name} /> : null;
}
