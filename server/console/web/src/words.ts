// Numbers as people read them.
const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
export const count = (n: number): string => whole.format(Math.round(n));
export const figure = (n: number): string => Math.abs(n) >= 1000 ? whole.format(Math.round(n)) : short.format(n);
export const plural = (n: number, word: string, more = word + "s"): string => `${count(n)} ${n === 1 ? word : more}`;
export const percent = (part: number): string => `${(100 * Math.min(1, part)).toFixed(part < 1 && part > 0 ? 1 : 0)} %`;
export const bytes = (n: number): string => {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = n < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  return `${short.format(n / 1000 ** step)} ${units[step]}`;
};
export const duration = (seconds: number): string => {
  if (seconds < 0) return "not known yet";
  const s = Math.round(seconds);
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
};
// An estimate and how far off it may be.
export const interval = (middle: number, low: number, high: number): string =>
  duration(low) === duration(high) ? duration(middle) : `about ${duration(middle)} (${duration(low)} to ${duration(high)})`;
// Microseconds since 1970.
export const time = (at: number): string =>
  at ? new Date(at / 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "–";
// Of the whole problem, all stages together, as everything says it; of a server that does not tell, of the stage.
export const done = (p: { done?: number; cost: number; cost_accepted: number; state: string }): number =>
  p.done !== undefined && p.done >= 0 ? p.done : p.state === "finished" ? 1 : p.cost > 0 ? p.cost_accepted / p.cost : 0;
// When it will be done, with how far off that may be; or what it waits for.
export const left = (p: { state: string; eta_seconds: number; eta_low_seconds?: number; eta_high_seconds?: number; waits?: string }): string => {
  if (p.state !== "running") return "–";
  if (p.waits) return p.waits;
  const low = p.eta_low_seconds ?? -1;
  const high = p.eta_high_seconds ?? -1;
  return p.eta_seconds > 0 && low >= 0 && duration(low) !== duration(high) ? `${duration(low)} to ${duration(high)}` : duration(p.eta_seconds);
};
export const over = (state: string): boolean => ["finished", "cancelled", "failed"].includes(state);
export const lastLine = (text: string): string => text.trim().split("\n").pop() ?? "";
