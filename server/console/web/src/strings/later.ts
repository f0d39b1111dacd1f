// What the pages of later.ts say.
import { language } from ".";
import { en } from "./en_later";

export type LaterStrings = typeof en;
export let t: LaterStrings = en;
// As translate() of index.ts.
export async function translateLater(): Promise<void> {
  if (language === "de") t = (await import("./de_later")).texts;
}
