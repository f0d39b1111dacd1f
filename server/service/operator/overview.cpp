#include "server/service/operator/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/policy/certificates.h"
#include "server/service/core/certified.h"
#include "server/service/core/copies.h"
#include "server/service/core/revocations.h"
#include "server/service/operator/describe.h"
#include "server/service/operator/error_groups.h"
#include "shared/base/version.h"

namespace gleaner::service {
namespace {

constexpr auto disk_warning = std::chrono::hours{72};
constexpr auto rebuilt_after = std::chrono::seconds{1};
constexpr auto shown_for = std::chrono::seconds{10};

protocol::ServerStatus status_of(const Transaction& tx) {
  protocol::ServerStatus status;
  status.name = tx.settings.configuration.name;
  status.server_version = version_text;
  status.now = tx.now;
  status.hosts = tx.model.index.active();
  status.hosts_active = tx.model.contacts.count(tx.now);
  status.hosts_on_hold = tx.model.index.on_hold();
  status.open_units = static_cast<std::int64_t>(tx.model.open_units.size());
  for (const auto& [id, problem] : tx.model.problems)
    if (problem.row.finished_at == Timestamp{}) ++status.problems_open;
  status.warnings = copy_warnings(tx.model, tx.now);
  for (const auto& [id, trouble] : tx.model.troubles)
    if (const auto host = tx.model.hosts.find(id);
        host != tx.model.hosts.end() && host->second.row.state == protocol::HostState::active)
      status.warnings.push_back(
          fmt::format("the relay {} (host {}) cannot work, and its hosts get no work: {}",
                      host->second.row.name, id.value, trouble));
  add_signer_warnings(tx, status.warnings);
  return status;
}

// Is it the secret of the default code, still?
bool is_default(const Model& model, const Bytes& secret_digest) {
  const auto code = model.codes.find(default_code);
  return code != model.codes.end() && code->second.withdrawn_at == Timestamp{} &&
         code->second.secret_digest == secret_digest;
}

Status take_snapshot(Transaction& tx, Result<ProjectSnapshot>& result) {
  ProjectSnapshot snapshot;
  snapshot.status = status_of(tx);
  snapshot.problems = describe_problems(tx.model, tx.now);
  snapshot.hosts_total = tx.model.hosts.size();
  for (const auto& [id, host] : tx.model.hosts) {
    if (snapshot.hosts.size() == ProjectSnapshot::hosts_max) break;
    snapshot.hosts.push_back(describe(tx.model, host, tx.now));
  }
  snapshot.items_accepted = tx.model.items_accepted;
  snapshot.failures = tx.model.failures;
  snapshot.cores_busy = slots_now(tx.model, tx.now).busy;
  snapshot.errors = group_errors(tx.model);
  result = std::move(snapshot);
  return {};
}

}  // namespace

Overview::Overview(Kernel& kernel, const ProjectSecrets& secrets, const Scrub& scrub)
    : kernel_(kernel), secrets_(secrets), scrub_(scrub), started_at_(kernel.clock().now()) {}

void Overview::look(Done<Snapshot> then) {
  Snapshot present;
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    const Duration age = kernel_.clock().steady() - published_at_;
    const bool is_true = snapshot_ && changes_ == changes_seen_;
    if (is_true && age < shown_for) present = snapshot_;
    if (!present) waiting_.push_back({changes_, std::move(then)});
    const bool fresh = is_true && age < rebuilt_after;
    start = !fresh && !building_;
    building_ = building_ || start;
  }
  if (start) build();
  if (present) then(std::move(present));
}

void Overview::outdate() {
  const std::lock_guard lock(mutex_);
  ++changes_;
}

void Overview::build() {
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    changes = changes_;  // later ones may be missing in what is built
  }
  kernel_.decide<ProjectSnapshot>(take_snapshot, [this, changes](Result<ProjectSnapshot> built) {
    published(std::move(built), changes);
  });
}

void Overview::published(Result<ProjectSnapshot> built, std::uint64_t changes) {
  if (built.ok()) add_warnings(built->status);
  const Result<Snapshot> made =
      built.ok() ? Result<Snapshot>(std::make_shared<const ProjectSnapshot>(std::move(*built)))
                 : Result<Snapshot>(built.error());
  std::vector<Waiting> answered;
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    if (made.ok()) {
      snapshot_ = *made;
      published_at_ = kernel_.clock().steady();
      changes_seen_ = changes;
    }
    const auto later = std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
      return made.ok() && each.changes > changes;  // knows of a change that this may not show
    });
    answered.assign(std::make_move_iterator(later), std::make_move_iterator(waiting_.end()));
    waiting_.erase(later, waiting_.end());
    again = building_ = !waiting_.empty();
  }
  for (const auto& each : answered) each.then(made);
  if (again) build();
}

void Overview::status(Done<protocol::ServerStatus> done, protocol::Role asker) {
  const Bytes& secret = secrets_.enrolment_secret;
  std::string code;
  if (asker != protocol::Role::view && !secret.empty())
    code = protocol::to_text(join_code(kernel_.settings().configuration, secrets_.root_key, secret, port_));
  kernel_.decide<protocol::ServerStatus>(
      [code, digest = crypto::sha256(secret), keys = own_keys(secrets_)](
          Transaction& tx, Result<protocol::ServerStatus>& status) -> Status {
        status = status_of(tx);
        if (is_default(tx.model, digest)) status->join_code = code;
        const Status own = keys.ok() ? check_own_keys(tx.model.revocations, *keys) : Status{keys.error()};
        if (!own.ok()) status->warnings.push_back(own.error().message);
        return {};
      },
      [this, done = std::move(done)](Result<protocol::ServerStatus> status) {
        if (status.ok()) add_warnings(*status);
        done(std::move(status));
      });
}

void Overview::add_warnings(protocol::ServerStatus& status) {
  const Timestamp tls_end{Duration{certificate_end_.load()}};
  status.project = secrets_.project;
  status.started_at = started_at_;
  status.work_certificate_expires = secrets_.work_certificate_expires;
  const auto warn = [&](const std::optional<std::string>& words) {
    if (words) status.warnings.push_back(*words);
  };
  if (status.work_certificate_expires != Timestamp{})
    warn(work_certificate_words(status.work_certificate_expires, status.now));
  if (tls_end != Timestamp{})
    warn(policy::certificate_words(
        {"the TLS certificate", tls_end, "neither hosts nor `gleaner-admin` can speak to this server",
         "renew it (`gleaner-admin keys rotate`, or as who issued it says) and reload the server"},
        status.now));
  if (!certificate_believed_)
    status.warnings.push_back(
        "the TLS certificate is not the project's, and join codes do not say that one of a public authority "
        "is meant: no client connects; set server.public_certificate, or put the project's certificate back");
  for (const auto& check : watched_)
    if (const Status good = check(); !good.ok()) status.warnings.push_back(good.error().message);
  status.stored = scrub_.text();
  if (scrub_.lost() > 0)
    status.warnings.push_back(
        fmt::format("{} of the stored files were found damaged or gone: look at the disk, and what "
                    "`gleaner-server check` says while the server is stopped",
                    scrub_.lost()));
  if (const Status blobs = kernel_.blobs().health(); !blobs.ok())
    status.warnings.push_back(blobs.error().message + ". Results of more than 64 KiB wait with their hosts");
  add_disk_warning(status);
}

void Overview::add_disk_warning(protocol::ServerStatus& status) {
  const Settings& settings = kernel_.settings();
  const std::string disk = "the disk under " + settings.directory.root().string();
  const std::int64_t reserve = settings.configuration.disk_reserve_megabytes * (1 << 20);
  const auto free = kernel_.files().free_bytes(settings.directory.root());
  if (!free.ok()) return;
  std::optional<Duration> left;
  {
    const std::lock_guard lock(mutex_);
    disk_.note(status.now, *free);
    left = disk_.until(reserve);
  }
  if (*free < 2 * reserve)
    status.warnings.push_back(disk + " is nearly full");
  else if (left && *left < disk_warning)
    status.warnings.push_back(fmt::format(
        "{} will be full in about {:.0f} hours, as it fills now: make room, or have problems that ended long "
        "ago deleted (store.keep_ended_days)",
        disk, std::max(1.0, to_seconds(*left) / 3600)));
}

}  // namespace gleaner::service
