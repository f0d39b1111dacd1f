// What most visits do not need is fetched when it is shown (later.ts), in the reader's language.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Heading, Missing } from "./parts";
import { t } from "./strings";

type Later = typeof import("./later");
const later = signal<Later | null>(null);

// `name`: the heading while the page is fetched.
export function Fetched({ of, name }: { of: (found: Later) => ComponentChildren; name?: string }) {
  const [wrong, setWrong] = useState(false);
  useEffect(() => {
    if (!later.value) import("./later").then(async found => { await found.translateLater(); later.value = found; }).catch(() => setWrong(true));
  }, []);
  if (later.value) return <>{of(later.value)}</>;
  return <>{name && <Heading>{name}</Heading>}<Missing wrong={wrong ? t.pageNotFetched : ""} /></>;
}
