// A whole server but for its sockets, told anything by two hosts and an administrator: work, commits of
// ranges that nobody holds, uploads in pieces, failures, reports, joins, revocations, changes of the problem,
// time, restarts, and requests of any bytes. Nothing is answered with a fault of the server's own, an item is
// accepted once and stays so, and what memory says is what a restart reads.
#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "server/http/router.h"
#include "server/service/core/project_directory.h"
#include "server/service/service.h"
#include "shared/archive/bundle_archive.h"
#include "shared/base/limits.h"
#include "shared/bundle/bundle.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/numbers_manager.h"
#include "tests/unit/service/joining_keys.h"
#include "tests/unit/service/model_text.h"

using namespace gleaner;
using namespace gleaner::service;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t items = 12;
constexpr int hosts = 2;

class StandingClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return from_microseconds(1'767'225'600'000'000) + Duration{passed_};
  }
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime{Duration{passed_}}; }
  void advance(Duration by) { passed_ += by.count(); }
  void reset() { passed_ = 0; }

 private:
  std::atomic<std::int64_t> passed_{0};
};

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) fprintf(stderr, "%s\n", result.error().message.c_str());
  CHECK_TRUE(result.ok());
  return std::move(result).value();
}

template <typename T>
Result<T> wait(const std::function<void(Done<T>)>& call) {
  auto promise = std::make_shared<std::promise<Result<T>>>();
  auto future = promise->get_future();
  call([promise](Result<T> result) { promise->set_value(std::move(result)); });
  CHECK_TRUE(future.wait_for(std::chrono::seconds{30}) == std::future_status::ready);
  return future.get();
}

class Server {
 public:
  Server(const fs::path& root, Clock& clock) : directory_(root), clock_(clock) {
    configuration_.address = "127.0.0.1";
    configuration_.disk_reserve_megabytes = 0;
    configuration_.check_store_at_start = false;
    configuration_.manager_sandbox =
        "off: I accept that managers read this server's keys and everybody's results";
  }

  [[nodiscard]] const Configuration& configuration() const { return configuration_; }
  [[nodiscard]] Service& service() { return *service_; }
  void open() {
    auto secrets = must(read_secrets(io::real_files(), directory_, clock_.now()));
    auto store = must(storage::open_sqlite_store(directory_.root(), storage::OpenCheck::none));
    service_ = must(Service::open({directory_, configuration_}, std::move(secrets),
                                  {io::real_files(), managers_, clock_}, std::move(store)));
    settle();
  }
  void close() { service_.reset(); }

  template <typename T>
  T look(std::function<T(Transaction&)> read) {
    return must(wait<T>([&](Done<T> done) {
      service_->kernel().decide<T>(
          [read](Transaction& tx, Result<T>& value) -> Status {
            value = read(tx);
            return {};
          },
          std::move(done));
    }));
  }
  void settle() {
    for (int i = 0; i < 100'000; ++i) {
      if (look<bool>([](Transaction& tx) {
            const Underway& underway = tx.model.underway;
            return !tx.model.project->dispatch().planning() && underway.jobs.empty() &&
                   underway.reviews.empty() && underway.previews.empty() && underway.drafts.empty();
          }))
        return;
      std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    CHECK_TRUE(!"jobs do not end");
  }
  http::Response ask(http::Request request) {
    http::Router router(*service_, http::PublicPage::on);
    auto promise = std::make_shared<std::promise<http::Response>>();
    auto future = promise->get_future();
    request.peer = request.network = "fuzz";
    router.handle(std::move(request),
                  [promise](http::Response said) { promise->set_value(std::move(said)); });
    CHECK_TRUE(future.wait_for(std::chrono::seconds{30}) == std::future_status::ready);
    http::Response said = future.get();
    CHECK_TRUE(said.status >= 200 && (said.status < 500 || said.status == 503));
    return said;
  }

 private:
  ProjectDirectory directory_;
  Configuration configuration_;
  Clock& clock_;
  fuzz::NumbersManagers managers_{items};
  std::unique_ptr<Service> service_;
};

// A project with an application, a problem and two hosts, as files: every input begins with a copy of it.
struct Template {
  fs::path root = fuzz::scratch("service");
  StandingClock clock;
  std::vector<std::string> tokens;
  std::string admin_token, project;
  Bytes secret;

  Template() {
    spdlog::set_level(spdlog::level::off);
    fs::remove_all(root);
    InitOptions options;
    options.directory = root / "template";
    options.offline = root / "offline";
    Server server(options.directory, clock);
    options.configuration = server.configuration();
    (void)must(init_project(io::real_files(), options, clock.now()));
    admin_token = must(io::real_files().read(ProjectDirectory(options.directory).admin_token(), 1000));
    admin_token.erase(admin_token.find_last_not_of('\n') + 1);
    server.open();
    const auto secrets =
        must(read_secrets(io::real_files(), ProjectDirectory(options.directory), clock.now()));
    secret = secrets.enrolment_secret;
    project = secrets.project;
    add_application(server, options.offline);
    for (int i = 0; i < hosts; ++i) {
      const auto request = enrolment(server, std::to_string(i));
      const auto reply = must(wait<protocol::EnrolReply>(
          [&](auto done) { server.service().enrolment().enrol(request, "fuzz", std::move(done)); }));
      tokens.push_back(reply.token);
    }
    protocol::AddProblem problem;
    problem.application = "numbers";
    problem.parameters = "{}";
    problem.validation = "checks";
    (void)must(wait<protocol::ProblemInfo>(
        [&](auto done) { server.service().problems().add(problem, std::move(done)); }));
    server.settle();
    server.close();
  }

  [[nodiscard]] protocol::EnrolRequest enrolment(Server& server, const std::string& name) const {
    const auto key = service::testing::key_of(name);
    protocol::EnrolRequest request;
    request.secret = secret;
    request.host_key = key.public_key();
    request.machine = crypto::sha256_hex("machine of " + name);
    request.name = name;
    request.platform = "x86_64-linux";
    request.cores = 2;
    request.benchmark = protocol::Benchmark{1000, clock.now()};
    const auto nonce = must(wait<protocol::EnrolmentNonce>(
        [&](auto done) { server.service().enrolment().nonce("fuzz", std::move(done)); }));
    request.proof =
        service::testing::proof(service::testing::enrolment_of(request, project, nonce.nonce), key);
    return request;
  }

 private:
  void add_application(Server& server, const fs::path& offline) const {
    io::Files& files = io::real_files();
    const fs::path bundle = root / "bundle";
    CHECK_TRUE(files.make_directories(bundle).ok());
    const auto put = [&](const char* name, std::string_view text, io::Mode mode) {
      CHECK_TRUE(files.write(bundle / name, text, mode).ok());
    };
    put("manifest.toml",
        "manifest = 1\nname = \"numbers\"\nversion = \"1.0.0\"\ntitle = \"Numbers\"\n"
        "[kernel]\nany = \"kernel\"\n[manager]\nprogram = \"manager\"\n"
        "[items]\nmeaning = \"a word\"\ncomparison = \"manager\"\ncheckpoint = true\n"
        "[limits]\nitem_bytes = 64\n",
        io::Mode::normal);
    put("kernel", "#!/bin/sh\n", io::Mode::executable);
    put("manager", "#!/bin/sh\n", io::Mode::executable);
    const auto packed = must(archives::pack_bundle(bundle));
    (void)must(server.service().kernel().blobs().put(packed.archive));
    const auto signer = must(bundle::read_key_file(files, offline / bundle::signer_key_file));
    const auto certificate =
        must(bundle::read_certificate_file(files, offline / bundle::signer_certificate_file));
    const auto rootkey = must(bundle::read_key_file(files, offline / bundle::root_key_file));
    const auto signed_bundle = bundle::sign_bundle(packed, signer, certificate,
                                                   bundle::project_id(rootkey.public_key()), clock.now());
    (void)must(wait<protocol::ApplicationInfo>(
        [&](auto done) { server.service().applications().add(signed_bundle, std::move(done)); }));
  }
};

class Life {
 public:
  Life(Template& made, fuzz::Dice dice) : made_(made), dice_(dice), server_(made.root / "run", made.clock) {
    made_.clock.reset();
    fs::remove_all(made_.root / "run");
    fs::copy(made_.root / "template", made_.root / "run", fs::copy_options::recursive);
    server_.open();
  }
  ~Life() { server_.close(); }

  void run() {
    for (int steps = 0; dice_.more() && steps < 64; ++steps) {
      step();
      check();
    }
    restart();
  }

 private:
  http::Response post(const std::string& path, std::string body, const std::string& token) {
    http::Request request;
    request.method = "POST";
    request.path = path;
    request.headers["authorization"] = "Bearer " + token;
    request.body = std::move(body);
    return server_.ask(std::move(request));
  }
  const std::string& host() { return made_.tokens[static_cast<std::size_t>(dice_.below(hosts))]; }
  UnitId unit() {
    if (units_.empty() || dice_.below(8) == 0) return UnitId{dice_.below(40)};
    return units_[static_cast<std::size_t>(dice_.below(256)) % units_.size()].first;
  }

  protocol::CommitRequest commit() {
    protocol::CommitRequest request;
    if (!units_.empty() && dice_.below(4) > 0) {
      auto& [id, range] = units_[static_cast<std::size_t>(dice_.below(256)) % units_.size()];
      request.unit = id;
      request.range = {range.begin, std::min(range.end, range.begin + 1 + dice_.below(4))};
      request.last = request.range.end == range.end;
      range.begin = request.range.end;
      if (range.empty()) request.range = {range.begin - 1, range.begin};
    } else {
      request.unit = unit();
      request.range.begin = dice_.below(items + 2) - 1;
      request.range.end = request.range.begin + dice_.below(items + 2);
      request.last = dice_.below(2) == 1;
    }
    static const char* words[] = {"item", "close", "wrong", ""};
    const int word = dice_.below(16);
    Bytes segment;
    for (std::int64_t i = request.range.begin; i < request.range.end; ++i)
      protocol::append_item(segment, word > 3 ? "item-" + std::to_string(i) : std::string(words[word]));
    if (dice_.below(16) == 0) segment += dice_.take(8);
    request.digest = crypto::sha256_hex(segment);
    request.bytes = static_cast<std::int64_t>(segment.size()) + (dice_.below(32) == 0 ? 1 : 0);
    const int way = dice_.below(8);
    if (way > 1) request.data = io::compress(segment);
    if (way == 1) uploads_.push_back(segment);
    if (way == 0) request.data = Bytes(dice_.take(16));
    request.compute_seconds = dice_.below(3);
    return request;
  }

  protocol::UnitReport report() {
    protocol::UnitReport report;
    report.unit = unit();
    report.finished = dice_.below(items + 4) - 2;
    report.state = static_cast<protocol::RunState>(1 + dice_.below(3));
    const double numbers[] = {0, 0.5, 1, 30, 1e9, 1e300};
    report.rate = numbers[dice_.below(6)];
    report.item_seconds = numbers[dice_.below(6)];
    report.item_share = dice_.below(2) / 2.0;
    report.running_seconds = numbers[dice_.below(6)];
    return report;
  }

  void work() {
    protocol::WorkRequest request;
    request.platforms = {"x86_64-linux"};
    request.cores = 1 + dice_.below(8);
    for (int slots = dice_.below(4); slots > 0; --slots)
      request.slots.push_back({slots, dice_.below(2) == 0});
    for (int count = dice_.below(3); count > 0; --count) request.commits.push_back(commit());
    for (int count = dice_.below(3); count > 0; --count) request.units.push_back(report());
    request.proposal.performance = 1000;
    request.proposal.items = dice_.below(5);
    const auto said = post("/v1/work", protocol::encode(request), host());
    if (said.status != 200) return;
    const auto reply = must(protocol::decode<protocol::WorkReply>(said.body));
    for (const auto& statement : reply.grants) {
      const auto grant = must(protocol::decode<protocol::Grant>(statement.payload));
      CHECK_TRUE(grant.range.begin >= 0 && grant.range.end <= items && !grant.range.empty());
      units_.emplace_back(grant.unit, grant.range);
    }
  }

  // A result alone, of a host that still holds all it has.
  void deliver() {
    protocol::WorkRequest request;
    request.commits = {commit()};
    for (const auto& [unit, range] : units_) {
      if (request.units.size() == static_cast<std::size_t>(limits::units_per_host_max)) break;
      protocol::UnitReport report;
      report.unit = unit;
      report.finished = range.begin;
      request.units.push_back(report);
    }
    (void)post("/v1/work", protocol::encode(request), host());
  }

  void heartbeat() {
    protocol::HeartbeatRequest request;
    for (int count = dice_.below(3); count > 0; --count) request.units.push_back(report());
    if (dice_.below(3) == 0) {
      protocol::SavedItem saved;
      saved.unit = unit();
      saved.item = dice_.below(items + 2);
      saved.share = 0.5;
      saved.data = dice_.below(2) == 0 ? io::compress("saved") : Bytes(dice_.take(16));
      request.saved = {saved};
    }
    (void)post("/v1/heartbeat", protocol::encode(request), host());
  }

  void upload() {
    if (uploads_.empty()) uploads_.emplace_back(dice_.take(32));
    const Bytes& content = uploads_[static_cast<std::size_t>(dice_.below(256)) % uploads_.size()];
    http::Request request;
    request.method = "PATCH";
    request.path = "/v1/uploads/" + crypto::sha256_hex(content);
    const auto offset = static_cast<std::size_t>(dice_.below(8)) * content.size() / 8;
    request.headers["authorization"] = "Bearer " + (dice_.below(8) == 0 ? made_.admin_token : host());
    request.headers["upload-offset"] = std::to_string(offset);
    request.headers["upload-length"] = std::to_string(content.size() + (dice_.below(16) == 0 ? 1 : 0));
    request.body = dice_.below(4) == 0 ? Bytes(dice_.take(32)) : content.substr(offset);
    if (dice_.below(4) == 0) request.headers["content-encoding"] = "deflate";
    (void)server_.ask(request);
    request.method = "GET";
    (void)server_.ask(std::move(request));
  }

  // Any bytes as the body of any operation.
  void anything() {
    static const char* paths[] = {"/v1/work",
                                  "/v1/heartbeat",
                                  "/v1/failure",
                                  "/v1/enrol",
                                  "/v1/admin/problems",
                                  "/v1/admin/applications",
                                  "/v1/admin/problems/1/strategy",
                                  "/v1/admin/problems/1/application",
                                  "/v1/admin/hosts/1/revoke",
                                  "/v1/admin/codes",
                                  "/v1/admin/tokens",
                                  "/v1/admin/codes/default/withdraw"};
    const std::string path = paths[dice_.below(12)];
    const std::string token = path.starts_with("/v1/admin") ? made_.admin_token : host();
    (void)post(path, std::string(dice_.take(static_cast<std::size_t>(dice_.below(256)))), token);
  }

  void step() {
    static const char* actions[] = {"pause", "resume",  "pause",   "resume",
                                    "retry", "preview", "partial", "cancel"};
    switch (dice_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return work();
      case 4:
      case 5:
      case 6:
        return deliver();
      case 7:
        return heartbeat();
      case 8: {
        protocol::FailureReport failure{unit(), static_cast<protocol::FailureKind>(1 + dice_.below(8)),
                                        dice_.below(items), std::string(dice_.take(4))};
        return (void)post("/v1/failure", protocol::encode(failure), host());
      }
      case 9:
      case 10:
        return upload();
      case 11:
        return anything();
      case 12: {
        const char* action = actions[dice_.below(8)];
        return (void)post(std::string("/v1/admin/problems/1/") + action, "{}", made_.admin_token);
      }
      case 13:
        made_.clock.advance(std::chrono::seconds{1 << dice_.below(16)});
        return server_.service().ticker().tick();
      case 14:
        return restart();
      default: {
        const auto request = made_.enrolment(server_, std::to_string(dice_.below(hosts + 2)));
        (void)post("/v1/enrol", protocol::encode(request), "");
      }
    }
  }

  std::string memory() {
    return server_.look<std::string>([](Transaction& tx) { return testing::text_of(tx.model); });
  }

  void restart() {
    server_.settle();
    const std::string before = memory();
    server_.close();
    server_.open();
    CHECK_TRUE(memory() == before);
  }

  void check() {
    server_.settle();
    const std::int64_t accepted = server_.look<std::int64_t>([](Transaction& tx) -> std::int64_t {
      const auto found = tx.model.problems.find(ProblemId{1});
      if (found == tx.model.problems.end() || found->second.stage == nullptr) return -1;
      found->second.stage->view().check_invariants();
      return found->second.stage->view().ledger().accepted().total();
    });
    if (accepted < 0) return;
    CHECK_TRUE(accepted <= items && accepted >= accepted_);
    accepted_ = accepted;
  }

  Template& made_;
  fuzz::Dice dice_;
  Server server_;
  std::vector<std::pair<UnitId, Range>> units_;  // as granted, from where the next commit begins
  std::vector<Bytes> uploads_;
  std::int64_t accepted_ = 0;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Template made;
  Life(made, fuzz::Dice(fuzz::text_of(data, size))).run();
  return 0;
}
