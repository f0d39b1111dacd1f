// The field above a list that filters it; what it says stands in the page's address.
import type { ComponentChildren } from "preact";
import { query, show } from "./route";

export const fits = (text: string, ...words: string[]) => !text || words.join(" ").toLowerCase().includes(text.toLowerCase());
export const Find = ({ label, children }: { label: string; children?: ComponentChildren }) => (
  <form class="filter" onSubmit={event => event.preventDefault()}>
    <input type="search" aria-label={label} placeholder={label} value={query("text")} onInput={event => show({ text: event.currentTarget.value })} />
    {children}
  </form>
);
