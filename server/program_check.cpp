#include "server/program_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "server/program_bar.h"
#include "server/program_owner.h"
#include "shared/base/figures.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

using service::CheckReport;
using service::Finding;
using Severity = Finding::Severity;

constexpr int code_good = 0, code_failed = 1, code_mendable = 3, code_serious = 4;

// In JSON; scripts know these words.
const char* name_of(const Finding& finding) {
  if (finding.mended) return "mended";
  switch (finding.severity) {
    case Severity::note:
      return "note";
    case Severity::mendable:
      return "mendable";
    case Severity::serious:
      break;
  }
  return "serious";
}

std::string text_of(const Finding& finding) {
  if (finding.mended) return "repaired";
  return finding.severity == Severity::mendable ? "repairable" : name_of(finding);
}

}  // namespace

int fail(const Error& error) {
  terminal::print(stderr, "gleaner-server: {}\n", error.message);
  return 1;
}

namespace {

void print_text(const CheckReport& report) {
  if (report.store.schema > 0) {
    terminal::print("store: schema {}, {}, {}, {}\n", report.store.schema,
                    counted(report.store.present.generation, "transaction"),
                    counted(report.store.hosts, "host"),
                    counted(std::ssize(report.store.problems), "problem"));
    for (const auto& [id, problem] : report.store.problems)
      terminal::print("problem {} ({}): {}, stage {}, {} of {} items accepted, {} segments\n", id.value,
                      problem.name, protocol::name_of(problem.state), problem.stage + 1, problem.accepted,
                      std::max<std::int64_t>(problem.items, 0), problem.segments);
  }
  terminal::print("blobs: {} with {}, {}; {} damaged and {} gone of those in use, {} without use\n",
                  report.blobs, bytes_text(report.blob_bytes),
                  report.all_read ? "all read" : "none read (--deep reads them)", report.blobs_damaged,
                  report.blobs_missing, report.orphans);
  for (const auto& finding : report.findings)
    terminal::print("{}: {}: {}\n", text_of(finding), finding.kind, finding.message);
  for (const auto& line : report.done) terminal::print("repair: {}\n", line);
  switch (report.worst()) {
    case Severity::note:
      terminal::print("Nothing is wrong.\n");
      break;
    case Severity::mendable:
      terminal::print(
          "`gleaner-server check --repair` repairs the findings marked repairable; so does a running "
          "server.\n");
      break;
    case Severity::serious:
      terminal::print("The findings marked serious need an administrator.\n");
  }
}

void print_json(const CheckReport& report, int code) {
  json::Value findings = json::Value::array(), problems = json::Value::array();
  for (const auto& finding : report.findings)
    findings.push_back(
        {{"kind", finding.kind}, {"severity", name_of(finding)}, {"message", finding.message}});
  for (const auto& [id, problem] : report.store.problems)
    problems.push_back({{"id", id.value},
                        {"name", problem.name},
                        {"state", protocol::name_of(problem.state)},
                        {"stage", problem.stage},
                        {"items", problem.items},
                        {"accepted", problem.accepted},
                        {"segments", problem.segments}});
  const json::Value all{{"exit", code},
                        {"schema", report.store.schema},
                        {"transactions", report.store.present.generation},
                        {"hosts", report.store.hosts},
                        {"problems", problems},
                        {"blobs", report.blobs},
                        {"blob_bytes", report.blob_bytes},
                        {"blobs_read", report.all_read},
                        {"blobs_damaged", report.blobs_damaged},
                        {"blobs_missing", report.blobs_missing},
                        {"orphans", report.orphans},
                        {"orphan_bytes", report.orphan_bytes},
                        {"findings", findings},
                        {"done", report.done}};
  terminal::print("{}\n", json::write(all, {.indent = 2}));
}

}  // namespace

int run_check(const service::Settings& settings, service::CheckOptions options, Format format) {
  Bar bar;
  if (::isatty(STDERR_FILENO) == 1)
    options.progress = [&bar](std::int64_t done, std::int64_t all) {
      bar.draw(done, all, [&] { return fmt::format("{} of {} read", bytes_text(done), bytes_text(all)); });
    };
  const Status user = check_user(settings.directory.root(), "check");
  const auto report = user.ok()
                          ? service::check_project(io::real_files(), settings, options, system_clock().now())
                          : Result<CheckReport>(user.error());
  bar.clear();
  if (!report.ok()) {
    terminal::print(stderr, "gleaner-server: {}\n", report.error().message);
    return code_failed;
  }
  const Severity worst = report->worst();
  const int code = worst == Severity::note       ? code_good
                   : worst == Severity::mendable ? code_mendable
                                                 : code_serious;
  if (format == Format::json)
    print_json(*report, code);
  else
    print_text(*report);
  return code;
}

}  // namespace gleaner::server
