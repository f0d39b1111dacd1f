#include "tests/virtual/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>
#include <thread>

#include "server/policy/dispatch/replay.h"
#include "server/service/core/project_directory.h"
#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/keys.h"
#include "tests/unit/service/joining_keys.h"

namespace gleaner::virtual_time {
namespace {

namespace fs = std::filesystem;

fs::path scratch() {
  const fs::path memory = "/dev/shm";
  std::string name =
      ((::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path()) / "gleaner-virtual-XXXXXX")
          .string();
  CHECK_TRUE(::mkdtemp(name.data()) != nullptr);
  return name;
}

}  // namespace

Server::Server(const std::string& draws) : root_(scratch()), directory_(root_ / "project") {
  configuration_.address = "127.0.0.1";
  configuration_.disk_reserve_megabytes = 0;
  configuration_.check_store_at_start = false;
  configuration_.decisions_megabytes = 1024;
  configuration_.manager_sandbox =
      "off: I accept that managers read this server's keys and everybody's results";  // there is no process
  service::InitOptions options;
  options.directory = directory_.root();
  options.offline = root_ / "offline";
  options.configuration = configuration_;
  (void)must(init_project(io::real_files(), options, clock_.now()));
  open();
  (void)look<bool>([draws](service::Transaction& tx) {
    must(tx.store.set_value("audit_key", draws));
    return true;
  });
  restart();
  add_application();
}

Server::~Server() {
  service_.reset();
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Server::open() {
  auto secrets = must(read_secrets(io::real_files(), directory_, clock_.now()));
  secret_ = secrets.enrolment_secret;
  project_ = secrets.project;
  auto store = std::make_unique<storage::testing::FailingStore>(
      must(storage::open_sqlite_store(directory_.root(), storage::OpenCheck::none)));
  store_ = store.get();
  service_ = must(service::Service::open({directory_, configuration_}, std::move(secrets),
                                         {io::real_files(), managers_, clock_}, std::move(store)));
  settle();
}

void Server::restart() {
  service_.reset();
  replay_log();
  open();
}

void Server::replay_log() const {
  const auto path = directory_.decisions();
  if (!io::real_files().exists(path)) return;  // no tick has written it
  const Bytes text = must(io::real_files().read(path, configuration_.decisions_megabytes << 20));
  policy::ProjectReplay replay;
  for (std::string_view left = text; !left.empty() && !replay.parting();
       left.remove_prefix(left.find('\n') + 1))
    must(replay.feed(left.substr(0, left.find('\n')), path.string()));
  if (const auto& parting = replay.parting())
    fprintf(stderr, "line %lld of the decision log: logged %s, replayed %s\n",
            static_cast<long long>(parting->line), parting->logged.c_str(), parting->replayed.c_str());
  CHECK_TRUE(!replay.parting());
  must(io::real_files().remove(path));
}

void Server::settle() {
  for (int i = 0; i < 100'000; ++i) {
    const bool idle = look<bool>([](service::Transaction& tx) {
      const service::Underway& underway = tx.model.underway;
      return !tx.model.project->dispatch().planning() && underway.jobs.empty() && underway.reviews.empty() &&
             underway.previews.empty() && underway.drafts.empty();
    });
    if (idle) return;
    service_->kernel().writer().retry();  // a failed transaction may just have been noticed
    std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
  CHECK_TRUE(!"jobs do not end");
}

void Server::add_application() {
  io::Files& files = io::real_files();
  const fs::path bundle = root_ / "bundle";
  must(files.make_directories(bundle));
  must(files.write(bundle / "manifest.toml",
                   "manifest = 1\nname = \"numbers\"\nversion = \"1.0.0\"\ntitle = \"Numbers\"\n"
                   "[kernel]\nany = \"kernel\"\n[manager]\nprogram = \"manager\"\n"
                   "[items]\nmeaning = \"a word\"\ncomparison = \"exact\"\n[limits]\nitem_bytes = 64\n",
                   io::Mode::normal));
  must(files.write(bundle / "kernel", "#!/bin/sh\n", io::Mode::executable));
  must(files.write(bundle / "manager", "#!/bin/sh\n", io::Mode::executable));
  const auto packed = must(archives::pack_bundle(bundle));
  (void)must(service_->kernel().blobs().put(packed.archive));
  const fs::path offline = root_ / "offline";
  const auto signer = must(bundle::read_key_file(files, offline / bundle::signer_key_file));
  const auto certificate =
      must(bundle::read_certificate_file(files, offline / bundle::signer_certificate_file));
  const auto root = must(bundle::read_key_file(files, offline / bundle::root_key_file));
  const auto signed_bundle =
      bundle::sign_bundle(packed, signer, certificate, bundle::project_id(root.public_key()), clock_.now());
  (void)must(wait<protocol::ApplicationInfo>(
      [&](auto done) { service_->applications().add(signed_bundle, std::move(done)); }));
}

HostId Server::add_host(int number) {
  protocol::EnrolRequest request;
  request.secret = secret_;
  const auto key = service::testing::key_of(std::to_string(number));
  request.host_key = key.public_key();
  request.machine = crypto::sha256_hex("machine of " + std::to_string(number));
  request.name = "host-" + std::to_string(number);
  request.platform = "x86_64-linux";
  request.cores = 2;
  request.benchmark = protocol::Benchmark{1000, clock_.now()};
  const std::string network = fmt::format("10.{}.{}.1", number / 250, number % 250);
  const auto nonce = must(wait<protocol::EnrolmentNonce>(
      [&](auto done) { service_->enrolment().nonce(network, std::move(done)); }));
  request.proof =
      service::testing::proof(service::testing::enrolment_of(request, project_, nonce.nonce), key);
  const auto reply = must(wait<protocol::EnrolReply>(
      [&](auto done) { service_->enrolment().enrol(request, network, std::move(done)); }));
  return reply.host;
}

}  // namespace gleaner::virtual_time
