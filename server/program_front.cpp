#include "server/program_front.h"

#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "server/front/router.h"
#include "server/link/client.h"
#include "server/link/identity.h"
#include "server/program_check.h"
#include "server/program_move_blobs.h"
#include "server/program_owner.h"
#include "server/program_run.h"
#include "server/program_serving.h"
#include "server/storage/file_blobs.h"
#include "server/storage/object_blobs.h"
#include "server/storage/open_blobs.h"
#include "shared/crypto/tls_identity.h"
#include "shared/logging/log.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

constexpr auto trimmed_every = std::chrono::minutes{10};
// For so long all goes on, but /readyz says that this front end ends: a balancer that looks twice a second
// then sends it no new connection, and none is refused. After that kept ones are told to end.
constexpr auto noticed = std::chrono::milliseconds{1500};
constexpr auto told_to_end = std::chrono::seconds{1};

// The cache of blobs, and what keeps it from growing.
struct Cache {
  std::unique_ptr<storage::BlobStore> blobs;
  std::function<Status(Timestamp)> trim;
};

Result<Cache> open_cache(const io::Path& directory, const service::Configuration& configuration,
                         const std::string& project) {
  Cache cache;
  const auto place = blob_place(directory, configuration);
  if (place.url.empty()) {
    auto files = std::make_unique<storage::FileBlobs>(io::real_files(), directory);
    cache.trim = [directory, blobs = files.get(), bytes = place.cache_bytes](Timestamp now) {
      return front::trim_files(io::real_files(), directory, *blobs, bytes, now);
    };
    cache.blobs = std::move(files);
  } else {
    TRY_ASSIGN(auto objects, storage::make_object_blobs(io::real_files(), directory, place, system_clock()));
    cache.trim = [blobs = objects.get()](Timestamp now) { return blobs->collect_cache(now); };
    cache.blobs = std::move(objects);
  }
  TRY(cache.blobs->open(project));
  return cache;
}

// Does something now and then, until it is destroyed.
class Repeated {
 public:
  explicit Repeated(std::function<void()> job) : job_(std::move(job)), thread_([this] { run(); }) {}
  ~Repeated() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, trimmed_every, [this] { return stopped_; })) job_();
  }
  const std::function<void()> job_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

struct Keys {
  service::TlsFiles tls;
  Bytes root_key;
  std::string project;
};

Result<Keys> read_keys(const service::ProjectDirectory& directory) {
  Keys keys;
  TRY_ASSIGN(keys.root_key, service::read_root_public_key(io::real_files(), directory));
  keys.project = to_hex(crypto::fingerprint(keys.root_key));
  TRY_ASSIGN(keys.tls, service::read_tls(io::real_files(), directory));
  return keys;
}

Result<std::unique_ptr<link::Client>> find_leader(const service::Configuration& configuration,
                                                  const service::ProjectDirectory& directory,
                                                  const std::string& project, std::chrono::seconds hold) {
  link::ClientOptions options;
  TRY_ASSIGN(options.servers, link::parse_addresses(configuration.link_servers));
  if (options.servers.empty())
    return Error{ErrorKind::invalid, directory.configuration().string() +
                                         ": link.servers names no server for this front end to ask"};
  if (std::any_of(options.servers.begin(), options.servers.end(),
                  [](const link::Address& each) { return !each.local(); })) {
    TRY_ASSIGN(options.identity, link::read_identity(io::real_files(), directory.link_key()));
  }
  options.project = project;
  options.hold = hold;
  options.log = [](const std::string& line) { spdlog::info("{}", line); };
  return link::Client::start(std::move(options));
}

Result<int> serve(const io::Path& directory, const service::Configuration& configuration, int port,
                  std::chrono::seconds hold) {
  const service::ProjectDirectory project(directory);
  TRY_ASSIGN(const Keys keys, read_keys(project));
  // What managers had here is another process's.
  TRY(io::real_files().remove_all(directory / "problems"));
  TRY_ASSIGN(const Cache cache, open_cache(directory, configuration, keys.project));
  const service::Settings settings{project, configuration};
  TRY_ASSIGN(const auto leader, find_leader(configuration, project, keys.project, hold));
  TRY_ASSIGN(auto options, http_options(configuration, project, port));
  options.timeouts.drain = told_to_end;
  options.certificate_chain_pem = keys.tls.chain_pem;
  options.private_key_pem = keys.tls.key_pem;
  ThreadPool pool(std::max(4, 2 * static_cast<int>(std::thread::hardware_concurrency())));
  front::Router router({io::real_files(), io::real_processes(), system_clock(), settings, *cache.blobs,
                        *leader, pool, keys.root_key, keys.project},
                       options.figures);
  spdlog::info("{}", router.sandbox().describe());
  options.body_bytes_max = [&router](const http::Request& head) { return router.body_bytes_max(head); };
  options.introduce = [&router](const http::Request& head, const http::Reply& reply) {
    router.introduce(head, reply);
  };
  TRY_ASSIGN(const auto server,
             http::Server::start(std::move(options), [&router](http::Request request, http::Reply reply) {
               router.handle(std::move(request), std::move(reply));
             }));
  const Repeated trimming([&cache] {
    if (const Status trimmed = cache.trim(system_clock().now()); !trimmed.ok())
      spdlog::warn("the cache of blobs is not trimmed: {}", trimmed.error().message);
  });
  spdlog::info("a front end of {} on https://{}:{}", configuration.name, configuration.address,
               server->port());
  sd_notify(0, "READY=1");
  wait_for_signals(*server, project, [] {});
  sd_notify(0, "STOPPING=1");
  router.begin_stop();
  std::this_thread::sleep_for(noticed);
  server->stop(patience);
  // Nobody is answered any more: what is under way ends before what it stands on.
  leader->stop();
  pool.stop();
  spdlog::info("stopped");
  return 0;
}

}  // namespace

int run_front(const io::Path& directory, int port, const std::string& log_level, std::chrono::seconds hold) {
  if (const Status user = check_user(directory, "front"); !user.ok()) return fail(user.error());
  auto configuration = read_configuration(directory);
  if (!configuration.ok()) return fail(configuration.error());
  logging::set_up({.name = "gleaner-server",
                   .level = log_level.empty() ? configuration->log_level : log_level,
                   .form = logging::form_of(configuration->log_format)});
  block_signals();
  open_privately(directory);
  const auto served =
      serve(directory, *configuration, port >= 0 ? port : static_cast<int>(configuration->port), hold);
  return served.ok() ? *served : fail(served.error());
}

int make_link_key(const io::Path& file) {
  const Status made = link::make_identity(io::real_files(), file, system_clock().now());
  if (!made.ok()) return fail(made.error());
  terminal::print(
      "{}: copy it as keys/link.pem to all servers and front ends of the project, and to nobody else:\n"
      "whoever has it can act as a front end.\n",
      file.string());
  return 0;
}

}  // namespace gleaner::server
