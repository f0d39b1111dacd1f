// Pages of hosts. The server looks at some thousands for an answer, which may have none that match; the next have them then.
import { ask } from "./api";
import type { HostPage } from "./messages";

export async function hostPage(fields: URLSearchParams): Promise<HostPage> {
  for (;;) {
    const page = await ask<HostPage>(`/v1/admin/host-pages?${fields.toString().replaceAll("+", "%20")}`);
    if (page.hosts.length > 0 || page.next === 0) return page;
    fields.set("after", `${page.next}`);
  }
}
