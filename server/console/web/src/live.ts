// The live view: one stream of events for all pages, which the browser takes up again by itself.
import { signal } from "@preact/signals";
import { ask, list, session, Problematic, type ErrorGroup, type Live, type Sample, type Session } from "./api";
import { reasonOf } from "./words";

export const live = signal<Live | null>(null);
export const samples = signal<Sample[]>([]);
export const connected = signal(false);
// What of the last event concerns lists of problems, and of hosts: another text, and they ask again.
export const problemNews = (): string => JSON.stringify(live.value?.problems.map(p => [p.id, p.state, p.accepted, p.units, p.hosts]));
export const hostNews = (): string => {
  const status = live.value?.status;
  return JSON.stringify([status?.hosts, status?.hosts_active, status?.hosts_on_hold, status?.open_units, problemNews()]);
};
// Why a problem is stopped or failed, with the words of its newest error.
export const whyOf = (p: { id: number; message: string; errors?: ErrorGroup[] }): string =>
  reasonOf(p.message, (p.errors?.[0] ?? live.value?.errors.find(e => e.problem === p.id))?.words);
const samplesMax = 480;
let stream: EventSource | null = null;

export function follow(): void {
  stop();
  list<Sample>("/v1/admin/history").then(past => (samples.value = past), () => undefined);  // the curves begin now
  stream = new EventSource("/v1/admin/events");
  stream.onmessage = event => {
    const view: Live = JSON.parse(event.data);
    connected.value = true;
    live.value = view;
    const last = samples.value[samples.value.length - 1];
    if (view.sample.at > (last?.at ?? 0)) samples.value = [...samples.value, view.sample].slice(-samplesMax);
  };
  stream.onerror = () => {
    // An answer of events ends once a minute, which is no news; one that was refused is.
    if (stream?.readyState !== EventSource.CLOSED) return;
    connected.value = false;
    window.setTimeout(recover, 3000);
  };
}

export function stop(): void {
  stream?.close();
  stream = null;
  connected.value = false;
}

async function recover(): Promise<void> {
  if (!stream) return;
  try {
    session.value = await ask<Session>("/v1/console/session");
    follow();
  } catch (error) {
    if ((error as Problematic).status === 401) session.value = null;
    else window.setTimeout(recover, 5000);
  }
}

// A browser may keep pages that were left, each with its stream, until no connection to the server is left.
addEventListener("pagehide", stop);
addEventListener("pageshow", event => {
  if (event.persisted && session.value) follow();
});
