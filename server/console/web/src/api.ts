// The server's published API, as a page uses it: the session is a cookie, changes carry its guard. Errors are Problems
// whose message says what to do.
import { effect, signal } from "@preact/signals";

import { t } from "./strings";
import type { ApplicationInfo, ResultFile, Role, SessionInfo } from "./messages";
export type {
  ApplicationInfo as Application, DayInfo as Day, ErrorGroup, HostInfo as Host, HostShare as Share, InputInfo as InputFile, ItemMap,
  LiveView as Live, OverviewSample as Sample, ParameterInfo as Parameter, ProblemEstimate as Estimate, ProblemInfo as Problem,
  ProblemSample, RelayInfo as Relay, ResultFile, Role, ServerStatus as Status, SessionInfo as Session, SetAside, UnitInfo as Unit,
} from "./messages";

export class Problematic extends Error {
  constructor(readonly status: number, message: string) { super(message); }
}

export const idOf = (a: ApplicationInfo): string => `${a.name}@${a.application_version}`;

export const session = signal<SessionInfo | null>(null);
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
  confirming = ask<SessionInfo>("/v1/console/session").then(found => { session.value = found; }, (error: Problematic) => {
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
    throw new Problematic(0, t.noAnswer);
  }
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => ({ detail: t.answered(reply.status) }));
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

// By an admin token instead of the session: for what outlives a session, which it may not do.
export async function changeWith<T>(token: string, path: string, body: object): Promise<T> {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const reply = await fetch(path, { method: "POST", headers, body: JSON.stringify({ version: 1, ...body }), cache: "no-store", credentials: "omit" })
    .catch(() => { throw new Problematic(0, t.noAnswer); });
  if (reply.ok) return reply.json();
  throw new Problematic(reply.status, (await reply.json().catch(() => ({ detail: t.answered(reply.status) }))).detail);
}

export async function blob(file: ResultFile): Promise<Blob> {
  const reply = await send("GET", `/v1/blobs/${file.digest}`, {});
  return (await reply.blob()).slice(0, undefined, file.media_type);
}

// Its bytes from `begin` to before `end`.
export async function piece(file: ResultFile, begin: number, end: number): Promise<ArrayBuffer> {
  return (await send("GET", `/v1/blobs/${file.digest}`, { Range: `bytes=${begin}-${end - 1}` })).arrayBuffer();
}

const pieceBytes = 4 << 20;
const uploadMax = 512 << 20;

// Stores a file, in pieces, and tells its digest.
export async function upload(file: File, progress: (share: number) => void): Promise<string> {
  if (file.size > uploadMax) throw new Problematic(0, t.tooLarge(file.name));
  const content = await file.arrayBuffer();
  const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", content))].map(b => b.toString(16).padStart(2, "0")).join("");
  const path = `/v1/uploads/${digest}`;
  let { offset, complete } = await ask<{ offset: number; complete: boolean }>(path);
  while (!complete) {
    const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": `${offset}`, "Upload-Length": `${file.size}` };
    const state = await (await send("PATCH", path, headers, content.slice(offset, offset + pieceBytes))).json();
    ({ offset, complete } = state);
    progress(file.size ? offset / file.size : 1);
  }
  return digest;
}
