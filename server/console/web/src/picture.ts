// The picture of a problem as it forms. The server makes it anew as items come, and shows all who look the same one.
import { useEffect, useState } from "preact/hooks";
import { ask, change, type Problem, type Problematic, type ResultFile } from "./api";
import { isPicture } from "./files";
import { attempt } from "./parts";

const askedAgain = 2000, askedLater = 5000, steps = 20;
export interface Made { items: number; files: ResultFile[] }

// Of which applications this browser saw pictures: room is kept for the next one.
const kept = "gleaner-pictures", keptMax = 50;
const pictured = (): string[] => (localStorage.getItem(kept) ?? "").split(" ");
const nameOf = (p: Problem) => p.application.split("@")[0];

// `expected`: the next will be one, by those before.
export interface LivePicture { made: Made | null; expected: boolean; wrong: string; busy: boolean; fetchPartial: () => void }

interface Preview { accepted: number; files: ResultFile[] }
const madeOf = (got: Preview): Made => ({ items: got.accepted, files: got.files });

export function useLivePicture(p: Problem): LivePicture {
  const [made, setMade] = useState<Made | null>(null);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const there = p.accepted > 0 && p.state !== "finished";
  const step = Math.floor((steps * p.accepted) / Math.max(p.items, 1));
  useEffect(() => {
    if (!there || document.hidden) return;
    let here = true, timer = 0;
    const later = (wait: number) => { timer = window.setTimeout(() => here && setTurn(turn + 1), wait); };
    ask<Preview>(`/v1/admin/problems/${p.id}/picture`).then(got => {
      if (!here) return;
      setMade(before => (before && before.items === got.accepted ? before : madeOf(got)));
      setWrong("");
      later(askedLater);
    }, (error: Problematic) => {
      if (!here) return;
      if (error.status !== 503) setWrong(error.message);
      later(error.status === 503 ? askedAgain : askedLater);
    });
    return () => { here = false; clearTimeout(timer); };
  }, [p.id, there, step, turn]);
  const expected = pictured().includes(nameOf(p));
  const seen = (made?.files ?? p.results).some(isPicture);
  useEffect(() => { if (seen && !expected) localStorage.setItem(kept, [nameOf(p), ...pictured()].slice(0, keptMax).join(" ")); }, [seen]);
  const fetchPartial = async () => {
    setBusy(true);
    const got = await attempt(() => change<Preview>(`/v1/admin/problems/${p.id}/partial`));
    setBusy(false);
    if (got) setMade(madeOf(got));
  };
  return { made, expected, wrong, busy, fetchPartial: () => void fetchPartial() };
}
