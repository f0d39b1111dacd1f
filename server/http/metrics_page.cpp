#include "server/http/metrics_page.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "server/service/core/model.h"
#include "shared/base/limits.h"

namespace gleaner::http {
namespace {

using metrics::Exposition;
using Type = Exposition::Type;
using protocol::ProblemInfo;
using protocol::ProblemState;

double number(std::int64_t value) {
  return static_cast<double>(value);
}

double seconds_of(Timestamp time) {
  return to_seconds(time.time_since_epoch());
}

void add_server(Exposition& out, const service::Figures& figures) {
  const auto& status = figures.snapshot->status;
  out.family("gleaner_build_info", Type::gauge, "1; the version is a label.");
  out.sample(1, {{"version", status.server_version}});
  out.gauge("gleaner_start_time_seconds", "When the server started, in seconds since 1970.",
            seconds_of(status.started_at));
  out.gauge("gleaner_uptime_seconds", "How long it has been running.",
            to_seconds(status.now - status.started_at));
  out.gauge("gleaner_ready", "1 if /readyz says so.", figures.ready ? 1 : 0);
  out.gauge("gleaner_warnings", "What an administrator should do something about: gleaner-admin status.",
            number(static_cast<std::int64_t>(status.warnings.size())));
}

void add_fleet(Exposition& out, const service::Figures& figures) {
  const auto& snapshot = *figures.snapshot;
  out.gauge("gleaner_hosts_known", "Hosts that joined and have neither left nor been revoked.",
            number(snapshot.status.hosts));
  out.gauge("gleaner_hosts_online", "Of these, hosts that reported in the last five minutes.",
            number(snapshot.status.hosts_active));
  out.gauge("gleaner_units_open", "Units that hosts hold.", number(snapshot.status.open_units));
  out.gauge("gleaner_cores_at_work", "Slots with a unit, of hosts that report.", number(snapshot.cores_busy));
  out.counter("gleaner_core_seconds_total", "Cores at work, summed over time since the server started.",
              figures.sample.core_hours * 3600);
  out.counter("gleaner_items_accepted_total", "Items accepted from hosts, ever.",
              number(snapshot.items_accepted));
  out.counter("gleaner_failures_total", "Failures that hosts reported since the store was last read.",
              number(snapshot.failures));
}

// Open ones, the newest first.
std::vector<const ProblemInfo*> open_problems(const std::vector<ProblemInfo>& all) {
  std::vector<const ProblemInfo*> open;
  for (auto info = all.rbegin(); info != all.rend(); ++info)
    if (!service::over(info->state)) open.push_back(&*info);
  return open;
}

void add_problems(Exposition& out, const std::vector<ProblemInfo>& all) {
  out.family("gleaner_problems", Type::gauge, "Problems by their state.");
  std::map<ProblemState, std::int64_t> states;
  for (const auto& info : all) ++states[info.state];
  for (const auto state :
       {ProblemState::planning, ProblemState::running, ProblemState::paused, ProblemState::combining,
        ProblemState::finished, ProblemState::cancelled, ProblemState::failed, ProblemState::stopped})
    out.sample(number(states[state]), {{"state", protocol::name_of(state)}});

  auto open = open_problems(all);
  std::int64_t items = 0, set_aside = 0;
  for (const auto* info : open) {
    items += info->items - info->accepted;
    for (const auto& aside : info->set_aside) set_aside += aside.range.size();
  }
  out.gauge("gleaner_items_open", "Items of open problems' present stages that are not accepted yet.",
            number(items));
  out.gauge("gleaner_items_set_aside", "Of these, not handed out any more as they failed on several hosts.",
            number(set_aside));

  if (open.size() > limits::problems_in_metrics_max) open.resize(limits::problems_in_metrics_max);
  const auto each = [&](std::string_view name, std::string_view help,
                        const std::function<double(const ProblemInfo&)>& value) {
    out.family(name, Type::gauge, help);
    for (const auto* info : open)
      out.sample(value(*info), {{"problem", std::to_string(info->id.value)}, {"name", info->name}});
  };
  each("gleaner_problem_done_ratio", "Done part of an open problem, by cost; of the newest of them.",
       [](const auto& info) { return std::clamp(info.done, 0.0, 1.0); });
  each("gleaner_problem_hosts", "Hosts that hold units of it.",
       [](const auto& info) { return number(info.hosts); });
  each("gleaner_problem_wasted_ratio", "Part of all its computing so far, in all stages, that was of no use.",
       [](const auto& info) { return std::max(0.0, info.wasted); });
  each("gleaner_problem_remaining_seconds", "Until it will be done; NaN: not known.", [](const auto& info) {
    return info.eta_seconds < 0 ? std::numeric_limits<double>::quiet_NaN() : info.eta_seconds;
  });
}

void add_requests(Exposition& out, const service::Figures& figures, const RequestFigures& requests) {
  constexpr std::array<std::string_view, 5> classes{"1xx", "2xx", "3xx", "4xx", "5xx"};
  out.family("gleaner_requests_total", Type::counter, "Answered requests by what they are about.");
  for (std::size_t kind = 0; kind < request_kinds.size(); ++kind)
    for (int status = 2; status <= 5; ++status)
      out.sample(
          number(requests.answers(static_cast<RequestKind>(kind), status)),
          {{"kind", request_kinds.at(kind)}, {"code", classes.at(static_cast<std::size_t>(status - 1))}});
  out.family("gleaner_requests_refused_total", Type::counter, "Of these, refused, by the reason.");
  for (std::size_t i = 0; i < refusals.size(); ++i)
    out.sample(number(requests.refused(i)), {{"reason", refusals.at(i).reason}});
  out.counter("gleaner_overloads_total", "Hosts' requests that were refused at once, to be retried later.",
              number(figures.overloads));
  out.gauge("gleaner_requests_under_way", "Hosts' requests that are not answered yet.",
            number(figures.requests_under_way));
}

void add_connections(Exposition& out, const ConnectionFigures& connections) {
  out.gauge("gleaner_connections_open", "Connections to the server.", number(connections.open));
  out.counter("gleaner_connections_total", "Accepted since it started.", number(connections.accepted));
  out.counter("gleaner_connections_refused_total", "Of these, closed at once: there were too many.",
              number(connections.refused));
}

void add_writer(Exposition& out, const service::WriterFigures& writer) {
  out.gauge("gleaner_writer_waiting", "Operations that wait for the writer.",
            number(static_cast<std::int64_t>(writer.waiting)));
  out.family("gleaner_writer_operation_seconds", Type::histogram,
             "From an operation's arrival at the writer until it is durable.");
  out.sample(writer.operation_seconds);
  out.family("gleaner_writer_batch_operations", Type::histogram, "Operations that share a transaction.");
  out.sample(writer.batch_operations);
  out.family("gleaner_writer_commit_seconds", Type::histogram,
             "Commits of the store, nearly all of it the sync.");
  out.sample(writer.commit_seconds);
  out.counter("gleaner_writer_failures_total", "Transactions that could not be stored.",
              number(writer.transactions_failed));
}

void add_disk(Exposition& out, const service::Figures& figures, const ConnectionFigures* connections) {
  if (figures.disk_free_bytes)
    out.gauge("gleaner_disk_free_bytes", "Free where the project's directory is.",
              number(*figures.disk_free_bytes));
  out.gauge("gleaner_disk_reserve_bytes",
            "With less free, results are refused: store.disk_reserve_megabytes.",
            number(figures.disk_reserve_bytes));
  if (figures.store_bytes)
    out.gauge("gleaner_store_bytes", "What rows take: store.sqlite and its log, or the database.",
              number(*figures.store_bytes));
  out.family("gleaner_certificate_not_after_seconds", Type::gauge,
             "Until when a certificate is valid, in seconds since 1970.");
  out.sample(seconds_of(figures.snapshot->status.work_certificate_expires), {{"certificate", "work"}});
  if (connections != nullptr)
    out.sample(number(connections->certificate_not_after), {{"certificate", "tls"}});
}

void add_blobs(Exposition& out, const service::Figures& figures) {
  if (!figures.blobs) return;
  const auto& blobs = *figures.blobs;
  out.gauge("gleaner_object_store_up", "1 if the object store answered last.", figures.blobs_away ? 0 : 1);
  out.counter("gleaner_object_store_requests_total", "Requests to it.", number(blobs.requests));
  out.counter("gleaner_object_store_failures_total", "Of these, not answered as they should be.",
              number(blobs.failures));
  out.counter("gleaner_object_store_wrong_answers_total",
              "Times that it had other bytes than a digest says, or none where there should be some.",
              number(blobs.wrong_answers));
  out.counter("gleaner_object_store_sent_bytes_total", "Bytes sent to it.", number(blobs.sent_bytes));
  out.counter("gleaner_object_store_received_bytes_total", "Bytes of its answers.",
              number(blobs.received_bytes));
  out.gauge("gleaner_blob_cache_bytes", "Bytes of blobs in files here.", number(blobs.cached_bytes));
}

}  // namespace

std::string render_metrics(const service::Figures& figures, const RequestFigures& requests,
                           const ConnectionFigures* connections) {
  Exposition out;
  add_server(out, figures);
  add_fleet(out, figures);
  add_problems(out, figures.snapshot->problems);
  add_requests(out, figures, requests);
  if (connections != nullptr) add_connections(out, *connections);
  add_writer(out, figures.writer);
  add_disk(out, figures, connections);
  add_blobs(out, figures);
  return std::move(out).take();
}

}  // namespace gleaner::http
