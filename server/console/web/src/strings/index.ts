// What the pages say, in the reader's language: the one that was chosen here, else the browser's, else English. English is part of the
// page; another language is fetched before the page is shown, so that a module may not use `t` while it is loaded. A new language: its
// two files, an entry in `languages`, and where it is fetched, here and in later.ts.
import { en, shared as english } from "./en";

export type Strings = typeof en;
export type Shared = typeof english;
// A sentence for each plural of a language (Intl.PluralRules); "#" is the number.
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export const languages = { en: "English", de: "Deutsch" };
export type Language = keyof typeof languages;
// False in the owner's page, which is English: the client's own sentences are.
declare const TRANSLATED: boolean;
const kept = "gleaner-language";

const known = (name: string | null): name is Language => name !== null && name in languages;
const find = (): Language => {
  const chosen = localStorage.getItem(kept);
  return known(chosen) ? chosen : navigator.languages.map(each => each.slice(0, 2)).find(known) ?? "en";
};
export const language: Language = TRANSLATED ? find() : "en";
// Dates are in the order of day, month, year in either language.
export const locale: string = language === "en" ? "en-GB" : language;

export function choose(name: Language): void {
  localStorage.setItem(kept, name);
  location.reload();
}

export let t: Strings = en;
// Of those parts that the owner's page has, too.
export let shared: Shared = english;
// `t` and `shared` are in the language of the reader. Rejected: it could not be fetched.
export async function translate(): Promise<void> {
  if (TRANSLATED && language === "de") ({ texts: t, shared } = await import("./de"));
  document.documentElement.lang = language;
}
