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

// ---- Preferences, each by the control that suits its kind

const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

// Texts like "mon-fri 18:00-08:00", "sat,sun" or "22-6" as 7 rows of 24 hours, all `empty` where there is none; null where an
// hour is not whole.
function hoursOf(texts, empty) {
  const week = days.map(() => new Array(24).fill(texts.length === 0 && empty));
  for (const text of texts) {
    const words = text.trim().toLowerCase().split(/\s+/);
    const time = /^\d/.test(words[words.length - 1]) ? words.pop() : "0-24";
    const found = /^(\d+)(:00)?-(\d+)(:00)?$/.exec(time);
    if (!found) return null;
    const begin = Number(found[1]), end = Number(found[3]);
    const chosen = new Set();
    for (const part of (words.join("") || "mon-sun").split(",")) {
      const [from, to] = part.split("-").map((day) => days.indexOf(day.slice(0, 3)));
      if (from < 0 || to < 0) return null;
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
function textsOf(week, empty) {
  if (week.every((row) => row.every((hour) => hour === empty))) return [];
  const spans = new Map();
  week.forEach((row, day) => {
    for (let begin = 0; begin < 24; ++begin) {
      if (!row[begin] || (begin > 0 && row[begin - 1])) continue;
      let end = begin;
      while (end < 24 && row[end]) ++end;
      const span = begin + ":00-" + end + ":00";
      spans.set(span, [...(spans.get(span) || []), days[day]]);
    }
  });
  return [...spans].map(([span, on]) => (on.length === 7 ? "" : on.join(",") + " ") + span);
}

function listOf(value) {
  try {
    const list = JSON.parse(value);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function plain(value) {
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

function hoursGrid(one, week, change) {
  const table = element("table", undefined, { class: "hours", "aria-label": one.label });
  const head = element("tr");
  head.append(element("th", ""));
  for (let hour = 0; hour < 24; ++hour) head.append(element("th", hour % 6 === 0 ? hour : "", { scope: "col" }));
  table.append(head);
  const allowed = one.key === "expensive_hours" ? "expensive" : "allowed";
  week.forEach((row, day) => {
    const line = element("tr");
    line.append(element("th", days[day], { scope: "row" }));
    row.forEach((on, hour) => {
      const cell = element("td");
      const button = element("button", "", { type: "button", "aria-pressed": on, title: days[day] + " " + hour + ":00",
                                             "aria-label": days[day] + " " + hour + ":00 " + allowed });
      button.disabled = one.locked;
      button.addEventListener("click", () => {
        row[hour] = !row[hour];
        button.setAttribute("aria-pressed", row[hour]);
        change(week);
      });
      cell.append(button);
      line.append(cell);
    });
    table.append(line);
  });
  return table;
}

// The control, and what calls `set` with the value as the file has it.
function controlOf(one, set) {
  const id = "preference-" + one.key;
  if (one.kind === "flag") {
    const box = element("input", undefined, { id, type: "checkbox", role: "switch" });
    box.checked = one.value === "true";
    box.addEventListener("change", () => set(String(box.checked)));
    return box;
  }
  if (one.kind === "choice") {
    const select = element("select", undefined, { id });
    for (const word of one.words) select.append(element("option", word));
    select.value = plain(one.value);
    select.addEventListener("change", () => set(select.value));
    return select;
  }
  if (one.kind === "share" || (one.key === "cores" && one.high > 1)) {
    const share = one.kind === "share";
    const slider = element("input", undefined, { id, type: "range", min: share ? Math.ceil(100 * one.low) : 0,
                                                 max: share ? 100 * one.high : one.high, step: 1 });
    const said = element("output", "", { for: id });
    const tell = () => { said.textContent = share ? slider.value + " %" : slider.value === "0" ? "all" : slider.value; };
    slider.value = share ? Math.round(100 * Number(one.value)) : one.value;
    tell();
    slider.addEventListener("input", tell);
    slider.addEventListener("change", () => set(share ? String(Number(slider.value) / 100) : slider.value));
    const both = element("span", undefined, { class: "slider" });
    both.append(slider, said);
    return both;
  }
  if (one.kind === "hours") {
    const empty = one.key !== "expensive_hours";  // what no hours at all mean: at any hour, or never expensive
    const week = hoursOf(listOf(one.value), empty);
    if (week)
      return hoursGrid(one, week, (changed) => {
        const texts = textsOf(changed, empty);
        if (texts.length === 0 && !changed[0][0] && empty) set(undefined, "Without any hour it would never compute: choose “never” above.");
        else set(JSON.stringify(texts));
      });
  }
  const number = one.kind === "number" || one.kind === "count";
  const input = element("input", undefined, { id, type: number ? "number" : "text", autocomplete: "off" });
  if (number) {
    input.min = one.low;
    input.max = one.high;
    input.step = one.kind === "count" ? 1 : "any";
  }
  const list = one.kind === "names" || one.kind === "hours";
  input.value = list ? listOf(one.value).join(", ") : number ? one.value : plain(one.value);
  input.addEventListener("change", () => set(list ? JSON.stringify(input.value.split(",").map((name) => name.trim()).filter(Boolean))
                                                  : input.value));
  return input;
}

const say = (text) => set("said", text);

function showPreference(one) {
  const row = element("div", undefined, { class: "preference" });
  const save = async (value, refused) => {
    try {
      if (refused) throw new Error(refused);
      await ask("preferences", { key: one.key, value });
      say(one.label + ": saved");
    } catch (error) {
      say(error.message);
      await showPreferences();
    }
  };
  const control = controlOf(one, save);
  for (const each of [control, ...control.querySelectorAll("input")]) if (one.locked && "disabled" in each) each.disabled = true;
  const name = control.tagName === "TABLE" ? element("span", one.label) : element("label", one.label, { for: "preference-" + one.key });
  row.append(name, control, element("span", one.meaning + " From: " + one.origin + (one.locked ? ", locked by the administrator." : "."), { class: "from" }));
  return row;
}

async function showPreferences() {
  const groups = new Map();
  for (const one of await ask("preferences")) groups.set(one.group, [...(groups.get(one.group) || []), one]);
  at("preferences").replaceChildren(...[...groups].map(([group, all], index) => {
    const details = element("details");
    details.open = index === 0;
    details.append(element("summary", group), ...all.map(showPreference));
    return details;
  }));
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
