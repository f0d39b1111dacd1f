#include "server/http/status_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/clean_text.h"
#include "shared/base/figures.h"

namespace gleaner::http {
namespace {

constexpr const char* style = R"(
:root{color-scheme:light dark;--line:#8884;--bar:#3a7d44}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{margin-bottom:0}table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
progress{width:100%;min-width:8rem;accent-color:var(--bar)}
.quiet{opacity:.7}.warn{border-left:.3rem solid #c77700;padding-left:.6rem}
)";

std::string problem_row(const protocol::ProblemInfo& p) {
  const double part = std::clamp(p.done, 0.0, 1.0);
  const std::string& told = p.waits.empty() ? p.message : p.waits;
  return fmt::format(
      "<tr><td>{}<br><span class=quiet>{}{}{}</span></td><td>{}</td>"
      "<td><progress max=1 value={:.4f}></progress></td><td class=n>{}</td><td class=n>{} / {}</td>"
      "<td class=n>{}</td><td class=n>{}</td></tr>\n",
      escape_html(p.name), escape_html(p.application), told.empty() ? "" : ": ", escape_html(told),
      protocol::name_of(p.state), part, percent_text(part, 1), count_text(p.accepted), count_text(p.items),
      count_text(p.hosts),
      p.state == protocol::ProblemState::running && p.eta_seconds >= 0 ? duration_text(p.eta_seconds) : "–");
}

std::string host_row(const protocol::HostInfo& h, Timestamp now) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td><td>{}</td></tr>\n",
      escape_html(h.name), protocol::name_of(h.state), h.cores, count_text(h.open_units),
      count_text(h.items_accepted), duration_text(std::max(0.0, to_seconds(now - h.last_contact))));
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : clean_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string render_status_page(const service::ProjectSnapshot& snapshot) {
  const auto& status = snapshot.status;
  const auto& problems = snapshot.problems;
  const auto& hosts = snapshot.hosts;
  std::string page = fmt::format(
      "<!doctype html><html lang=en><head><meta charset=utf-8><meta http-equiv=refresh content=5>"
      "<meta name=viewport content=\"width=device-width\"><title>{0}</title><style>{1}</style></head><body>"
      "<h1>{0}</h1><p class=quiet>Gleaner {2} · {3} hosts, {4} reported in the last 5 minutes · {5} units "
      "out · up "
      "{6}</p>",
      escape_html(status.name), style, escape_html(status.server_version), status.hosts, status.hosts_active,
      status.open_units, duration_text(to_seconds(status.now - status.started_at)));
  for (const auto& warning : status.warnings)
    page += fmt::format("<p class=warn>{}</p>", escape_html(warning));
  page += "<h2>Problems</h2>";
  if (problems.empty()) page += "<p>None yet. Add one with <code>gleaner-admin problem add</code>.</p>";
  if (!problems.empty()) {
    page +=
        "<table><thead><tr><th>Problem<th>State<th>Progress<th class=n>Done<th class=n>Items<th "
        "class=n>Hosts<th "
        "class=n>Left</tr></thead><tbody>\n";
    for (auto p = problems.rbegin(); p != problems.rend(); ++p) page += problem_row(*p);
    page += "</tbody></table>";
  }
  page += "<h2>Hosts</h2>";
  if (hosts.empty()) page += "<p>None yet. Volunteers join with <code>gleaner-client join CODE</code>.</p>";
  if (!hosts.empty()) {
    page +=
        "<table><thead><tr><th>Host<th>State<th class=n>Cores<th class=n>Units<th class=n>Items "
        "accepted<th>Last "
        "report, ago</tr></thead><tbody>\n";
    for (const auto& host : hosts) page += host_row(host, status.now);
    page += "</tbody></table>";
    if (snapshot.hosts_total > hosts.size())
      page += fmt::format("<p class=quiet>… and {} more.</p>", snapshot.hosts_total - hosts.size());
  }
  page += "</body></html>\n";
  return page;
}

}  // namespace gleaner::http
