#include "server/service/service.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

int pool_threads() {
  return std::max(4, static_cast<int>(std::thread::hardware_concurrency()) * 2);
}

}  // namespace

Result<std::unique_ptr<Service>> Service::open(const ProjectDirectory& directory,
                                               const Configuration& configuration, ProjectSecrets secrets,
                                               Dependencies dependencies) {
  TRY_ASSIGN(auto store, storage::open_sqlite_store(directory.root(), configuration.check_store_at_start
                                                                          ? storage::OpenCheck::quick_check
                                                                          : storage::OpenCheck::none));
  std::unique_ptr<Service> service(
      new Service(directory, configuration, std::move(secrets), dependencies, std::move(store)));
  TRY(service->start());
  return service;
}

Service::Service(const ProjectDirectory& directory, const Configuration& configuration,
                 ProjectSecrets secrets, Dependencies dependencies, std::unique_ptr<storage::Store> store)
    : directory_(directory),
      configuration_(configuration),
      secrets_(std::move(secrets)),
      dependencies_(dependencies),
      store_(std::move(store)),
      blobs_(dependencies.files, directory.root()),
      managers_(dependencies.files, dependencies.processes, blobs_, directory),
      started_at_(dependencies.clock.now()),
      pool_(pool_threads()),
      writer_(*store_, [this] { return reload(); }) {}

Status Service::reload() {
  TRY_ASSIGN(Model fresh, load_model(*store_, dependencies_.files, directory_, configuration_, now()));
  for (auto& [id, problem] : fresh.problems) {
    const auto before = model_.problems.find(id);
    if (before == model_.problems.end()) continue;
    problem.job_running = before->second.job_running;  // the pool goes on with its jobs
    problem.reviews = before->second.reviews;
  }
  model_ = std::move(fresh);
  rebuild_tokens();
  return {};
}

Status Service::start() {
  TRY(blobs_.open());
  TRY(reload());
  TRY(store_->begin());
  TRY_ASSIGN(const auto project, store_->get_value("project"));
  if (project && *project != secrets_.project) {
    store_->rollback();
    return Error{ErrorKind::invalid,
                 "the store in " + directory_.root().string() +
                     " belongs to another project than the keys beside it: restore both from the "
                     "same backup"};
  }
  TRY(store_->set_value("project", secrets_.project));
  TRY(store_->commit());
  std::vector<ProblemId> due;
  for (const auto& [id, problem] : model_.problems) due.push_back(id);
  writer_.start();
  ticker_ = std::thread([this] {
    std::unique_lock lock(ticker_mutex_);
    while (!ticker_wake_.wait_for(lock, std::chrono::seconds{1}, [this] { return stopped_.load(); })) tick();
  });
  decide_later([this, due]() -> Status {
    for (const ProblemId id : due) {
      TRY(resume_reviews(model_.problems.at(id)));
      TRY(advance(id));
    }
    return {};
  });
  return {};
}

Service::~Service() {
  stop();
}

void Service::stop() {
  {
    const std::lock_guard lock(ticker_mutex_);
    if (stopped_.exchange(true)) return;
  }
  ticker_wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  // The pool's jobs may still hand operations to the writer, and the writer's completions jobs to the pool:
  // the pool first (its last jobs see a running writer), then the writer (late completions run in place, see
  // on_pool).
  pool_.stop();
  writer_.stop();
}

void Service::on_pool(std::function<void()> job) {
  // While stopping, the pool takes nothing more: what is left is answered from here, so that nobody waits for
  // ever.
  auto shared = std::make_shared<std::function<void()>>(std::move(job));
  if (!pool_.submit([shared] { (*shared)(); })) (*shared)();
}

void Service::decide_later(std::function<Status()> operation) {
  writer_.submit(std::move(operation), [](Status) {});
}

void Service::rebuild_tokens() {
  const std::unique_lock lock(tokens_mutex_);
  tokens_.clear();
  for (const auto& [id, host] : model_.hosts)
    if (host.row.state == protocol::HostState::active) tokens_[host.row.token_digest] = id;
}

Result<HostId> Service::authenticate_host(const std::string& token) const {
  const std::string digest = crypto::sha256(token);
  const std::shared_lock lock(tokens_mutex_);
  const auto found = tokens_.find(digest);
  if (found == tokens_.end())
    return Error{
        ErrorKind::unauthorized,
        "this host is not known here, or was revoked: join again with a join code from the administrator"};
  return found->second;
}

bool Service::authenticate_admin(const std::string& token) const {
  return equal_constant_time(crypto::sha256(token), secrets_.admin_token_digest);
}

protocol::SignedStatement Service::project() {
  const std::lock_guard lock(project_mutex_);
  if (!project_statement_) {
    protocol::ProjectDocument document;
    document.project = secrets_.project;
    document.name = configuration_.name;
    document.root_key = secrets_.root_key;
    document.work_certificate = secrets_.work_certificate;
    document.heartbeat_seconds = configuration_.heartbeat_seconds;
    document.commit_seconds = configuration_.commit_seconds;
    document.issued_at = now();
    project_statement_ = crypto::sign_statement(protocol::StatementType::project, protocol::encode(document),
                                                secrets_.work_key);
  }
  return *project_statement_;
}

}  // namespace gleaner::service
