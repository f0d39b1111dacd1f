// The picture of a problem as it forms: made anew whenever another twentieth of its items is accepted, at most every few seconds, and less
// often where making it takes long. Each is a run of the manager and an act in the audit log, so that their number is bounded.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, may, type Problem, type ResultFile } from "./api";
import { attempt } from "./parts";
import { over } from "./words";

const previewSeconds = 5, steps = 20;
export interface Made { items: number; files: ResultFile[] }

export interface LivePicture { made: Made | null; wrong: string; busy: boolean; fetchPartial: () => void }

export function useLivePicture(p: Problem): LivePicture {
  const [made, setMade] = useState<Made | null>(null);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const last = useRef({ items: 0, ready: 0 });
  const make = async (what: string): Promise<Made> => {
    const got = await change<{ accepted: number; files: ResultFile[] }>(`/v1/admin/problems/${p.id}/${what}`);
    return { items: got.accepted, files: got.files };
  };
  useEffect(() => {
    if (!may("operator") || p.accepted === 0 || p.state === "finished" || document.hidden) return;
    const more = p.accepted - last.current.items;
    if (last.current.items > 0 && more < Math.max(1, p.items / steps) && !(over(p.state) && more > 0)) return;
    if (Date.now() < last.current.ready) return;
    const begun = Date.now();
    last.current = { items: p.accepted, ready: Infinity };
    make(over(p.state) ? "partial" : "preview").then(got => { setMade(got); setWrong(""); }, (error: Error) => setWrong(error.message))
      .finally(() => { const now = Date.now(); last.current.ready = now + Math.max(previewSeconds * 1000, 10 * (now - begun)); });
  });
  const fetchPartial = async () => {
    setBusy(true);
    const got = await attempt(() => make("partial"));
    setBusy(false);
    if (got) setMade(got);
  };
  return { made, wrong, busy, fetchPartial: () => void fetchPartial() };
}
