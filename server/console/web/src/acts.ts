// How many acts the audit log has: each is a change that somebody made, to tags, codes, applications. The live view's events do not tell, and
// asking for those after the last is answered without one.
import { useRef } from "preact/hooks";
import { ask } from "./api";
import type { AuditPage } from "./messages";
import { usePolled } from "./parts";

export const noneAfter = Number.MAX_SAFE_INTEGER;
export function useActs(): number {
  const head = useRef(noneAfter);
  const [acts] = usePolled(async () => (head.current = (await ask<AuditPage>(`/v1/admin/audit?after=${head.current}`)).head.number), 1, []);
  return acts ?? 0;
}
