// The server's published API, as a page uses it: the session is a cookie, changes carry its guard. Errors are Problems
// whose message says what to do.
import { effect, signal } from "@preact/signals";

export type Role = "viewer" | "operator" | "owner";
export interface Session { name: string; role: Role; guard: string; project: string }
export interface ResultFile { name: string; digest: string; bytes: number; media_type: string }
export interface Share {
  host: number; name: string; units: number; items: number; cost: number; wasted_cost: number; rate: number;
  busy_seconds: number; last_contact_seconds: number;
}
export interface SetAside { unit: number; range: { begin: number; end: number }; message: string }
export interface Problem {
  id: number; name: string; application: string; state: string; message: string; waits?: string; strategy: string; straggler: string;
  weight: number; priority: number; validation: string; stage: number; stage_name: string; items: number; accepted: number;
  free: number; handed_out: number; cost: number; cost_accepted: number; rate: number; eta_seconds: number; units: number;
  eta_low_seconds?: number; eta_high_seconds?: number; done?: number;
  open_units: number; splits: number; wasted?: number; shares_total?: number; hosts: number; created_at: number; started_at: number;
  finished_at: number; elapsed_seconds: number; shares: Share[]; results: ResultFile[]; set_aside: SetAside[];
}
export interface Parameter {
  name: string; type: string; meaning: string; default_value?: string; required?: boolean; low?: number; high?: number; length?: number;
  choices?: string[];
}
export interface InputFile { name: string; meaning: string; required?: boolean }
export interface Application {
  name: string; application_version: string; title: string; archive: string; archive_bytes: number; platforms: string[]; signer: string;
  added_at: number; signer_expires?: number; parameters?: Parameter[]; inputs?: InputFile[];
}
export interface Estimate {
  application: string; items: number; cost: number; hosts: number; cores: number; share: number; tried: number; same_parameters: boolean;
  core_seconds: number; core_low_seconds: number; core_high_seconds: number; eta_seconds: number; eta_low_seconds: number; eta_high_seconds: number;
  waits: string;
}
export interface Host {
  id: number; name: string; state: string; platform: string; cores: number; memory_bytes: number; client_version: string;
  mflops: number; items_accepted: number; cost_accepted: number; failures: number; disagreements: number; enrolled_at: number; last_contact: number;
  open_units: number; state_reason: string; code: string; tags: string[]; on_hold?: string; trust?: number; relay?: number;
}
export interface Relay { name: string; state: string; children: number; hosts: number; host?: number; relay?: number; last_contact: number }
export interface Unit {
  id: number; problem: number; problem_name: string; stage: number; slot: number; kind: string; state: string;
  range: { begin: number; end: number }; delivered: number; running_seconds: number; issued: number; closed: number; reason: string;
}
export interface Status {
  project: string; name: string; server_version: string; join_code: string; started_at: number; now: number; hosts: number;
  hosts_active: number; problems_open: number; open_units: number; work_certificate_expires: number; warnings: string[];
  stored?: string;
}
export interface ErrorGroup {
  problem: number; problem_name: string; application: string; kind: string; words?: string; message: string; times: number; hosts: number;
  first_at: number; last_at: number;
}
export interface Sample { at: number; hosts_active: number; cores_busy: number; items_per_second: number; core_hours: number }
export interface Day { at: number; core_hours: number; kilowatt_hours: number; items: number }
export interface ProblemSample { at: number; stage: number; done: number; rate: number; eta_seconds: number; eta_low_seconds?: number; eta_high_seconds?: number }
export interface Live { status: Status; problems: Problem[]; problems_total: number; errors: ErrorGroup[]; sample: Sample }
export interface ItemMap {
  id: number; stage: number; stage_name: string; items: number; items_per_cell: number; accepted: number[]; held: number[];
  set_aside: number[]; holders: number[];
}

export class Problematic extends Error {
  constructor(readonly status: number, message: string) { super(message); }
}

export const idOf = (a: Application): string => `${a.name}@${a.application_version}`;

export const session = signal<Session | null>(null);
export const may = (role: Role): boolean => {
  const order: Role[] = ["viewer", "operator", "owner"];
  return session.value !== null && order.indexOf(session.value.role) >= order.indexOf(role);
};

// Who was logged in when the page was last here: nothing secret, so that it need not wait to be told again. Without a guard
// nothing can be changed yet.
const place = "gleaner-session";
export function recall(): void {
  try {
    const kept = localStorage.getItem(place);
    if (kept) session.value = { ...JSON.parse(kept), guard: "" };
  } catch { /* what is kept is no session, or nothing may be kept: the server is asked in any case */ }
}
let confirming: Promise<void> | null = null;
export function confirm(): Promise<void> {
  confirming = ask<Session>("/v1/console/session").then(found => { session.value = found; }, (error: Problematic) => {
    if (error.status === 401) session.value = null;
  });
  return confirming;
}
effect(() => {
  const now = session.value;
  if (now?.guard) localStorage.setItem(place, JSON.stringify({ name: now.name, role: now.role, project: now.project }));
  else if (!now && confirming) localStorage.removeItem(place);
});

async function send(method: string, path: string, headers: Record<string, string>, body?: BodyInit): Promise<Response> {
  if (method !== "GET" && session.value && !session.value.guard) await confirming;
  if (method !== "GET" && session.value) headers["X-Gleaner-Guard"] = session.value.guard;
  let reply: Response;
  try {
    reply = await fetch(path, { method, headers, body, cache: "no-store" });
  } catch {
    throw new Problematic(0, "The server does not answer.");
  }
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => ({ detail: `The server answered ${reply.status}.` }));
  if (reply.status === 401 && path !== "/v1/console/session") session.value = null;
  throw new Problematic(reply.status, told.detail);
}

export async function ask<T>(path: string): Promise<T> {
  return (await send("GET", path, {})).json();
}

export async function list<T>(path: string): Promise<T[]> {
  return (await ask<{ items: T[] }>(path)).items;
}

export async function change<T>(path: string, body: object = {}, method = "POST"): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await send(method, path, headers, JSON.stringify({ version: 1, ...body }))).json();
}

export async function blob(file: ResultFile): Promise<Blob> {
  const reply = await send("GET", `/v1/blobs/${file.digest}`, {});
  return new Blob([await reply.arrayBuffer()], { type: file.media_type });
}

const piece = 4 << 20;
const uploadMax = 512 << 20;

// Stores a file, in pieces, and tells its digest.
export async function upload(file: File, progress: (share: number) => void): Promise<string> {
  if (file.size > uploadMax) throw new Problematic(0, `${file.name} is larger than 512 MiB: gleaner-admin sends files of any size.`);
  const content = await file.arrayBuffer();
  const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", content))].map(b => b.toString(16).padStart(2, "0")).join("");
  const path = `/v1/uploads/${digest}`;
  let { offset, complete } = await ask<{ offset: number; complete: boolean }>(path);
  while (!complete) {
    const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": `${offset}`, "Upload-Length": `${file.size}` };
    const state = await (await send("PATCH", path, headers, content.slice(offset, offset + piece))).json();
    ({ offset, complete } = state);
    progress(file.size ? offset / file.size : 1);
  }
  return digest;
}
