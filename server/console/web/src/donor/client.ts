// The client on this computer, as `gleaner` speaks to it. The key came in the address's fragment, which no server and
// no other page ever sees.
export interface Slot { slot: number; state: string; project: string; problem: string; unit: number; begin: number; end: number; finished: number; remaining_seconds: number; reason: string }
export interface ProblemStatus { name: string; items: number; done: number; hosts: number }
export interface Project { key: string; name: string; server: string; share: number; recent_part: number; suspended: boolean; state: string }
export interface Day { day: number; core_seconds: number; joules: number }
export interface Status {
  server: string; project_name: string; host_name: string; mode: string; reason: string; details: string[]; cores: number; finishing: boolean;
  slots: Slot[]; problems: ProblemStatus[]; projects: Project[]; days: Day[]; items_today: number; items_week: number; items_total: number;
}
export interface Preference {
  key: string; value: string; origin: string; locked: boolean; protects: boolean; meaning: string; group: string; label: string; kind: string; low: number; high: number;
  words: string[];
}
export interface PictureAbout { number: number; change: number; width: number; height: number; problem: string; application: string }

const key = location.hash.slice(1);

async function send(path: string, body?: object): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (body) headers["Content-Type"] = "application/json";
  let reply: Response;
  try {
    reply = await fetch(`/api/${path}`, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("`gleaner page` has ended: start it again.");
  }
  if (reply.ok) return reply;
  throw new Error((await reply.json().catch(() => ({}))).message ?? `The answer was ${reply.status}.`);
}

export const ask = async <T>(path: string, body?: object): Promise<T> => (await send(path, body)).json();
export const status = async (): Promise<Status> => (await ask<{ status: Status }>("status")).status;

// What forms here, if anything does: what it is, and its pixels.
export async function picture(): Promise<{ about: PictureAbout; pixels: Uint8Array } | null> {
  const content = new Uint8Array(await (await send("picture")).arrayBuffer());
  const end = content.indexOf(10);
  return { about: JSON.parse(new TextDecoder().decode(content.subarray(0, end))), pixels: content.subarray(end + 1) };
}
