"use strict";
// The key came in the address's fragment, which no server and no other page ever sees.
const key = location.hash.slice(1);
const at = (id) => document.getElementById(id);
const refresh = 2000;

async function ask(path, body) {
  const request = { headers: { Authorization: "Bearer " + key } };
  if (body !== undefined) {
    request.method = "POST";
    request.body = JSON.stringify(body);
    request.headers["Content-Type"] = "application/json";
  }
  const reply = await fetch("/api/" + path, request);
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.message);
  return answer;
}

// Text is only ever set as text: what problems and servers call themselves is no HTML.
function set(id, text) {
  if (at(id).textContent !== String(text)) at(id).textContent = text;
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function showCore(slot, several) {
  const row = element("tr");
  const problem = slot.problem && several ? slot.problem + " (" + slot.project + ")" : slot.problem;
  row.append(element("td", slot.slot), element("td", slot.state), element("td", problem || "–"));
  const done = element("td");
  if (slot.unit) {
    const part = (slot.finished - slot.begin) / Math.max(1, slot.end - slot.begin);
    const percent = Math.floor(100 * part) + " %";
    done.append(element("progress", percent, { max: 1, value: part, "aria-label": "core " + slot.slot }), " " + percent);
  }
  row.append(done);
  return row;
}

function showTogether(problem) {
  const percent = Math.floor(100 * problem.done);
  const computers = problem.hosts.toLocaleString() + (problem.hosts === 1 ? " computer" : " computers");
  return element("li", "All together: " + percent + " % of " + problem.name + ", by " + computers);
}

function showProject(project) {
  const row = element("tr");
  row.append(element("th", project.name, { scope: "row" }), element("td", project.server), element("td", project.share),
             element("td", Math.round(100 * project.recent_part) + " %"), element("td", project.state));
  return row;
}

async function showStatus() {
  try {
    const status = (await ask("status")).status;
    set("sentence", status.reason);
    set("host", "on " + status.host_name);
    const several = status.projects.length > 1;
    set("project", several ? "for " + status.projects.map((one) => one.name).join(", ")
                           : status.project_name + " at " + status.server);
    at("projects-section").hidden = !several;
    at("projects").replaceChildren(...status.projects.map(showProject));
    set("today", status.items_today.toLocaleString());
    set("week", status.items_week.toLocaleString());
    set("total", status.items_total.toLocaleString());
    at("work").replaceChildren(...status.slots.map((slot) => showCore(slot, several)));
    at("together").replaceChildren(...status.problems.map(showTogether));
    at("why").replaceChildren(...status.details.map((detail) => element("li", detail)));
  } catch (error) {
    set("sentence", error.message || "The client is not answering.");
    at("work").replaceChildren();
  }
}

async function command(request, said) {
  try {
    set("said", (await ask("command", request)).message || said);
  } catch (error) {
    set("said", error.message);
  }
  await showStatus();
}

function showPreference(one) {
  const form = element("form");
  const input = element("input", undefined, { id: "preference-" + one.key, value: one.value, autocomplete: "off" });
  const button = element("button", "Set", { "aria-label": "Set " + one.key });
  input.disabled = button.disabled = one.locked;
  form.append(element("label", one.key, { for: input.id }), input, button,
              element("span", one.meaning + " From: " + one.origin + (one.locked ? ", locked by the administrator." : "."),
                      { class: "from" }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await ask("preferences", { key: one.key, value: input.value });
      set("said", one.key + " is now " + input.value);
      await showPreferences();
      at(input.id).focus();
    } catch (error) {
      set("said", error.message);
    }
  });
  return form;
}

async function showPreferences() {
  at("preferences").replaceChildren(...(await ask("preferences")).map(showPreference));
}

async function showLog() {
  if (!at("log-details").open) return;
  try {
    set("log", (await ask("log")).log.join("\n"));
  } catch (error) {
    set("log", error.message);
  }
}

at("pause").addEventListener("click", () => command({ command: "pause", seconds: 3600 }));
at("resume").addEventListener("click", () => command({ command: "resume" }));
at("finish").addEventListener("click", () => command({ command: "finish" }));
at("log-details").addEventListener("toggle", showLog);
showStatus();
showPreferences().catch((error) => set("preferences", error.message));
setInterval(() => {
  if (document.hidden) return;
  showStatus();
  showLog();
}, refresh);
