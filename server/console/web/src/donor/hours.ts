// Hours of the week as the preferences' texts have them, and as seven rows of 24.
export const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
export const dayNames = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
export type Week = boolean[][];

// Texts like "mon-fri 18:00-08:00", "sat,sun" or "22-6"; all `empty` where there is none; null where an hour is not whole.
export function hoursOf(texts: string[], empty: boolean): Week | null {
  const week: Week = days.map(() => new Array(24).fill(texts.length === 0 && empty));
  for (const text of texts) {
    const words = text.trim().toLowerCase().split(/\s+/);
    const time = /^\d/.test(words[words.length - 1]) ? words.pop()! : "0-24";
    const found = /^(\d+)(:00)?-(\d+)(:00)?$/.exec(time);
    if (!found) return null;
    const begin = Number(found[1]), end = Number(found[3]);
    const chosen = new Set<number>();
    for (const part of (words.join("") || "mon-sun").split(",")) {
      const [from, to] = part.split("-").map(day => days.indexOf(day.slice(0, 3)));
      if (from < 0 || (to !== undefined && to < 0)) return null;
      for (let day = from; ; day = (day + 1) % 7) {
        chosen.add(day);
        if (to === undefined || day === to) break;
      }
    }
    for (const day of chosen) {
      const hours = end > begin ? end - begin : end + 24 - begin;
      for (let hour = begin; hour < begin + hours; ++hour) week[(day + Math.floor(hour / 24)) % 7][hour % 24] = true;
    }
  }
  return week;
}

// The other way round: days with the same hours together.
export function textsOf(week: Week, empty: boolean): string[] {
  if (week.every(row => row.every(hour => hour === empty))) return [];
  const spans = new Map<string, string[]>();
  week.forEach((row, day) => {
    for (let begin = 0; begin < 24; ++begin) {
      if (!row[begin] || (begin > 0 && row[begin - 1])) continue;
      let end = begin;
      while (end < 24 && row[end]) ++end;
      const span = `${begin}:00-${end}:00`;
      spans.set(span, [...(spans.get(span) ?? []), days[day]]);
    }
  });
  return [...spans].map(([span, on]) => (on.length === 7 ? "" : on.join(",") + " ") + span);
}
