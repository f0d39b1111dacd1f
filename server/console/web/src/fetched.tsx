// What most visits do not need is fetched when it is shown, in the reader's language: the rarer pages (later.ts), and the rarer parts of
// a problem (further.ts).
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Heading, Missing } from "./parts";
import { t } from "./strings";

// `name`: the heading while the page is fetched.
function fetcher<Found extends { translateLater: () => Promise<void> }>(load: () => Promise<Found>) {
  const here = signal<Found | null>(null);
  const useFound = (): [Found | null, boolean] => {
    const [wrong, setWrong] = useState(false);
    useEffect(() => {
      if (!here.value) load().then(async found => { await found.translateLater(); here.value = found; }).catch(() => setWrong(true));
    }, []);
    return [here.value, wrong];
  };
  const Part = ({ of, name }: { of: (found: Found) => ComponentChildren; name?: string }) => {
    const [found, wrong] = useFound();
    if (found) return <>{of(found)}</>;
    return <>{name && <Heading>{name}</Heading>}<Missing wrong={wrong ? t.pageNotFetched : ""} /></>;
  };
  return { Part, useFound };
}

export const { Part: Fetched } = fetcher(() => import("./later"));
// `useFurther`: for a page that waits for its parts, so that none moves another; or the fetching failed.
export const { Part: Further, useFound: useFurther } = fetcher(() => import("./further"));
