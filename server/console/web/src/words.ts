// Numbers as people read them, by the rules of gleaner-admin (tools/admin/figures.h): a change here is one there, too.
import { language, locale, shared, type Forms } from "./strings";

const whole = new Intl.NumberFormat(language);
const short = new Intl.NumberFormat(language, { maximumFractionDigits: 12 });
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const rules = new Intl.PluralRules(language);
// Rounds as gleaner-admin does, to the last bit: both print the same text for the same number.
const rounded = (n: number, decimals: number): number => Math.round(n * 10 ** decimals) / 10 ** decimals;
export const count = (n: number): string => whole.format(Math.round(n));
export const figure = (n: number): string => Math.abs(n) >= 999.5 || n === 0 ? whole.format(Math.round(n)) : short.format(rounded(n, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(n))))));
// Of the work that was done; less than 4 s of a core is no number to read.
export const coreHours = (hours: number): string => (hours > 0 && hours < 0.001 ? `< ${short.format(0.001)}` : figure(hours));
export const plural = (n: number, forms: Forms): string => (forms[rules.select(n)] ?? forms.other).replace("#", count(n));
export const percent = (part: number): string => `${part < 1 && part > 0 ? tenths.format(rounded(100 * part, 1)) : whole.format(100 * Math.min(1, part))} %`;
// 812 B, 1.4 KiB, 20.0 MiB.
export const bytes = (n: number): string => {
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let unit = 0, value = n / 1024;
  for (; value >= 1023.95 && unit + 1 < units.length; ++unit) value /= 1024;
  return n < 1024 ? `${Math.round(n)} B` : `${tenths.format(rounded(value, 1))} ${units[unit]}`;
};
export const duration = (seconds: number): string => {
  if (seconds < 0) return shared.unknown;
  const s = Math.round(seconds);
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
};
// So many microseconds ago, to one unit.
export const ago = (microseconds: number): string => {
  const s = Math.max(0, Math.round(microseconds / 1e6));
  return shared.ago(s < 120 ? `${s} s` : s < 7200 ? `${Math.floor(s / 60)} min` : s < 172800 ? `${Math.floor(s / 3600)} h` : plural(Math.floor(s / 86400), shared.days));
};
// "12 to 26 min", with the unit once where both have it.
export const span = (low: number, high: number): string => {
  const [a, b] = [duration(low), duration(high)];
  const unit = /^[^ ]+ ([a-z]+)$/;
  return a === b ? a : shared.range(unit.exec(a) && unit.exec(a)![1] === unit.exec(b)?.[1] ? a.split(" ")[0] : a, b);
};
// An estimate and how far off it may be.
export const interval = (middle: number, low: number, high: number): string =>
  duration(low) === duration(high) ? duration(middle) : shared.about(duration(middle), span(low, high));
// Microseconds since 1970.
export const time = (at: number): string =>
  at ? new Date(at / 1000).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" }) : "–";
// Of the whole problem, all stages together, as everything says it; of a server that does not tell, of the stage.
export const done = (p: { done?: number; cost: number; cost_accepted: number; state: string }): number =>
  p.done !== undefined && p.done >= 0 ? p.done : p.state === "finished" ? 1 : p.cost > 0 ? p.cost_accepted / p.cost : 0;
// When it will be done, with how far off that may be; or what it waits for.
export const left = (p: { state: string; eta_seconds: number; eta_low_seconds?: number; eta_high_seconds?: number; waits?: string }): string => {
  if (p.state !== "running") return "–";
  if (p.waits) return p.waits;
  const low = p.eta_low_seconds ?? -1;
  const high = p.eta_high_seconds ?? -1;
  return p.eta_seconds > 0 && low >= 0 ? span(low, high) : duration(p.eta_seconds);
};
export const over = (state: string): boolean => ["finished", "cancelled", "failed"].includes(state);
export const lastLine = (text: string): string => text.trim().split("\n").pop() ?? "";
// Why a problem is stopped or failed, in a line, without what its page offers as buttons. Of what a program said, which may be many lines
// that begin with a banner, the last; `words`: that line, where the server has cut the message.
export const reasonOf = (message: string, words = ""): string => {
  const text = message.replace(/^stopped: /, "").replace(/\. (Mend|Fix) the application[^]*$/, ".").trim();
  const said = /; last: |\.? Its last words: /.exec(text);
  if (said) return `${text.slice(0, said.index)}: ${words || lastLine(text.slice(said.index + said[0].length)).replace(/^.* Its last words: /, "").trim()}`;
  const lines = text.split("\n").filter(line => line.trim());
  return lines.length > 1 ? `${lines[0]} … ${lines[lines.length - 1].trim()}` : lines[0] ?? "";
};
// Of one that runs.
export const leftOf = (p: Parameters<typeof left>[0]): string => (p.eta_seconds < 0 ? shared.timeLeftUnknown : shared.timeLeft(left(p)));
