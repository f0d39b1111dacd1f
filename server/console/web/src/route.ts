// Where the reader is: the page by its path, and what it shows by the query behind it, so that an address can be kept and sent on.
import { signal } from "@preact/signals";

export const route = signal(location.hash);
const parts = (): [string, string] => {
  const at = route.value.indexOf("?");
  return at < 0 ? [route.value, ""] : [route.value.slice(0, at), route.value.slice(at + 1)];
};
export const path = (): string => parts()[0];
export const query = (name: string, otherwise = ""): string => new URLSearchParams(parts()[1]).get(name) ?? otherwise;

// Changes what the page shows; an empty value is left out. The way back leads to the page before, not to each letter typed.
export function show(changed: Record<string, string>): void {
  const [page, text] = parts();
  const fields = new URLSearchParams(text);
  for (const [name, value] of Object.entries(changed)) {
    if (value) fields.set(name, value);
    else fields.delete(name);
  }
  const all = fields.toString();
  history.replaceState(null, "", `/console${page || "#/"}${all ? `?${all}` : ""}`);
  route.value = location.hash;
}

// The hosts that meet these needs, such as "python>=3.9".
export const needsLink = (needs: string[]): string => `#/hosts?${new URLSearchParams({ needs: needs.join(",") }).toString()}`;
