#include "tests/unit/service/world.h"

#include <thread>

#include "server/policy/dispatch/replay.h"
#include "server/service/core/load_model.h"
#include "server/service/work/accept.h"
#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::service::testing {
namespace {

// Parameters: {"count": items, "stages": stages (1), "enough": E} (after item E no more are needed), and
// words that it obeys: "refuse", "no-combine", "no-preview", "escapes" (its result is a link out of its
// directory), "killed" (twice while it combines), "crashes" (once over a result), and of its plans "hints"
// (each item costs 2), "few-hints", "stage-input"; and "mute": it does not say which items failed, which are
// those of pieces with "bad" in them. Each start adds a line to the file "started".
constexpr const char* manager_script = R"sh(#!/bin/sh
number() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$directory/parameters.json"; }
says() { grep -q "$1" "$directory/parameters.json"; }
echo started >>started
while read -r command a b c d; do
  case $command in
    gleaner) echo "ready 1 failures appends" ;;
    problem) directory=$a
      if says refuse; then echo "error these parameters make no sense"; else echo ok; fi ;;
    plan) stages=$(number stages)
      if [ "$a" -lt "${stages:-1}" ]; then
        more=$(ls "$directory/inputs" | grep -c '^table[.]csv[.]')
        printf 'items %s\nname numbers\n' "$(($(number count) + more))"
        if says few-hints; then echo 2 >hints.txt; echo "hints hints.txt"
        elif says hints; then yes 2 | head -n "$(number count)" >hints.txt; echo "hints hints.txt"; fi
        if says stage-input; then echo "of stage $a" >"input-$a"; echo "input facts input-$a"; fi
        echo ok
      else echo end; fi ;;
    validate) head -c "$d" >bytes
      if says crashes && [ ! -e crashed ]; then touch crashed; kill -ABRT $$; fi
      enough=$(number enough)
      if grep -q wrong bytes; then echo "invalid it says so itself"
      elif [ -n "$enough" ] && [ "$c" -ge "$enough" ]; then echo enough
      else echo valid; fi ;;
    compare) head -c $((c + d)) >bytes
      if grep -q close bytes; then echo same; else echo "different they are"; fi ;;
    combine) if says killed && [ ! -e killed2 ]; then
        if [ -e killed1 ]; then touch killed2; else touch killed1; fi; kill -KILL $$; fi
      if says no-combine; then echo "error they do not fit together"; else
      mkdir -p "stage-$a"; cut -d' ' -f1-3 "$b" >"stage-$a/pieces.txt"
      if says escapes; then ln -sf /etc/passwd "stage-$a/pieces.txt"; fi
      printf 'result pieces.txt stage-%s/pieces.txt text/plain\nok\n' "$a"; fi ;;
    preview) if says no-preview; then echo "error nothing to look at"; else
      mkdir -p "preview-$a"; cut -d' ' -f1-3 "$b" >"preview-$a/pieces.txt"
      printf 'result pieces.txt preview-%s/pieces.txt text/plain\nok\n' "$a"; fi ;;
    failed) while read -r begin end first path; do
        if grep -q bad "$path"; then echo "failed $begin $end"; fi
      done <"$b"
      if says mute; then echo "error nobody knows"; else echo ok; fi ;;
    quit) exit 0 ;;
    *) echo "error unknown command" ;;
  esac
done
)sh";

std::string manifest_text(const ManagerOptions& options) {
  return "manifest = 1\nname = \"numbers\"\nversion = \"" + options.version + "\"\ntitle = \"Numbers\"\n" +
         (options.compatible_with.empty() ? ""
                                          : "compatible_with = [\"" + options.compatible_with + "\"]\n") +
         "[kernel]\nany = \"kernel\"\n[manager]\nprogram = \"manager\"\n"
         "[items]\nmeaning = \"a word\"\ncomparison = \"" +
         options.comparison + "\"\nchecks = \"" + options.checks +
         "\"\ncheckpoint = " + (options.checkpoint ? "true" : "false") + "\n[limits]\nitem_bytes = 64\n" +
         options.form;
}

}  // namespace

World::World(const std::function<void(Configuration&)>& change, Hosts hosts)
    : directory_(temporary_.path() / "project") {
  InitOptions options;
  options.directory = directory_.root();
  options.offline = temporary_.path() / "offline";
  options.configuration.address = "127.0.0.1";
  options.configuration.disk_reserve_megabytes = 0;
  options.configuration.check_store_at_start = false;
  options.configuration.manager_sandbox = manager_sandbox_off;  // the script above calls other programs
  if (change) change(options.configuration);
  (void)must(init_project(io::real_files(), options, clock_.now()));
  configuration_ = options.configuration;
  open();
  if (hosts == Hosts::own)
    must(operate([](Transaction& tx) {
      storage::CodeRow& code = tx.model.codes.at(default_code);
      code.own = true;
      return tx.store.put_code(code);
    }));
}

World::~World() = default;

void World::open() {
  auto secrets = must(read_secrets(io::real_files(), directory_, clock_.now()));
  secret_ = secrets.enrolment_secret;
  project_id_ = secrets.project;
  auto store = std::make_unique<FailingStore>(
      must(storage::open_sqlite_store(directory_.root(), storage::OpenCheck::none)));
  store_ = store.get();
  service_ = must(
      Service::open({directory_, configuration_}, std::move(secrets),
                    {io::real_files(), io::real_processes(), clock_, make_blobs ? make_blobs() : nullptr},
                    std::move(store)));
  settle();
}

void World::restart(const std::function<void()>& meanwhile) {
  service_.reset();
  if (meanwhile) meanwhile();
  open();
}

void World::settle() {
  for (int i = 0; i < 30'000; ++i) {
    const bool idle = look<bool>([](Transaction& tx) {
      const Underway& underway = tx.model.underway;
      if (tx.model.project->dispatch().planning()) return false;
      return underway.jobs.empty() && underway.reviews.empty() && underway.previews.empty() &&
             underway.drafts.empty();
    });
    if (idle) return;
    service_->kernel().writer().retry();  // a failed transaction may just have been noticed
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  FAIL("jobs do not end");
}

void World::tick() {
  clock_.advance(std::chrono::seconds{1});
  service_->ticker().tick();
  settle();
}

Status World::wait_done(const std::function<void(StatusDone)>& call) {
  const auto result = wait<bool>([&](Done<bool> done) {
    call([done](Status status) { done(status.ok() ? Result<bool>(true) : Result<bool>(status.error())); });
  });
  return result.ok() ? Status{} : Status{result.error()};
}

Status World::operate(const Operation& operation) {
  return status_of(wait<bool>([&](Done<bool> done) {
    service_->kernel().decide<bool>(
        [operation](Transaction& tx, Result<bool>& value) {
          value = true;
          return operation(tx);
        },
        std::move(done));
  }));
}

std::string World::memory() {
  const auto both = look<std::pair<std::string, std::string>>([this](Transaction& tx) {
    const auto fresh = load_model(tx.store, io::real_files(), tx.settings, clock_.now());
    return std::pair{text_of(tx.model), fresh.ok() ? text_of(*fresh) : fresh.error().message};
  });
  CHECK(both.first == both.second);
  return both.first;
}

protocol::AddApplication World::application(const ManagerOptions& options) {
  io::Files& files = io::real_files();
  const io::Path bundle = temporary_.path() / ("bundle-" + options.version);
  must(files.make_directories(bundle));
  must(files.write(bundle / "manifest.toml", manifest_text(options), io::Mode::normal));
  must(files.write(bundle / "kernel", "#!/bin/sh\nexit 0\n", io::Mode::executable));
  must(files.write(bundle / "manager", manager_script, io::Mode::executable));
  const auto packed = must(archives::pack_bundle(bundle));
  must(service_->kernel().blobs().put(packed.archive));
  const io::Path offline = temporary_.path() / "offline";
  const auto signer = must(bundle::read_key_file(files, offline / bundle::signer_key_file));
  const auto certificate =
      must(bundle::read_certificate_file(files, offline / bundle::signer_certificate_file));
  const auto root = must(bundle::read_key_file(files, offline / bundle::root_key_file));
  return bundle::sign_bundle(packed, signer, certificate, bundle::project_id(root.public_key()),
                             clock_.now());
}

void World::add_application(const ManagerOptions& options) {
  const auto request = application(options);
  (void)must(wait<protocol::ApplicationInfo>(
      [&](auto done) { service_->applications().add(request, std::move(done)); }));
}

protocol::EnrolRequest World::enrol_request(const std::string& name) const {
  protocol::EnrolRequest request;
  request.secret = secret_;
  request.host_key = key_of(name).public_key();
  request.machine = crypto::sha256_hex("machine of " + name);
  request.name = name;
  request.platform = "x86_64-linux";
  request.cores = 2;
  request.benchmark = protocol::Benchmark{1000, clock_.now()};
  return request;
}

Bytes World::nonce() {
  if (clock_.now() == last_nonce_) clock_.advance(Duration{1});
  last_nonce_ = clock_.now();
  return must(wait<protocol::EnrolmentNonce>(
                  [&](auto done) { service_->enrolment().nonce("127.0.0.1", std::move(done)); }))
      .nonce;
}

protocol::EnrolRequest World::proven(protocol::EnrolRequest request, std::optional<HostId> relay) {
  const auto key = joining_keys().find(request.host_key);
  if (request.proof || key == joining_keys().end()) return request;
  request.proof = proof(enrolment_of(request, project_id_, nonce(), relay), key->second);
  return request;
}

Result<protocol::EnrolReply> World::enrol(const protocol::EnrolRequest& asked, const std::string& network) {
  const auto request = proven(asked);
  return wait<protocol::EnrolReply>(
      [&](auto done) { service_->enrolment().enrol(request, network, std::move(done)); });
}

TestHost World::add_host(const std::string& name, const std::string& network) {
  const auto reply = must(enrol(enrol_request(name), network.empty() ? "network of " + name : network));
  return {reply.host, reply.token};
}

Result<protocol::ProblemInfo> World::try_add_problem(const protocol::AddProblem& request) {
  return wait<protocol::ProblemInfo>([&](auto done) { service_->problems().add(request, std::move(done)); });
}

ProblemId World::add_problem(int items, const std::string& more, const std::string& strategy) {
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": " + std::to_string(items) + more + "}";
  request.strategy = strategy;
  request.validation = "checks";  // nothing is computed twice for its own sake
  return must(try_add_problem(request)).id;
}

protocol::ProblemInfo World::show(ProblemId id) {
  return must(
      wait<protocol::ProblemInfo>([&](auto done) { service_->problems().show(id, std::move(done)); }));
}

Result<protocol::ProblemInfo> World::change(ProblemId id, Problems::Action action) {
  return wait<protocol::ProblemInfo>(
      [&](auto done) { service_->problems().change(id, action, std::move(done)); });
}

Status World::remove(ProblemId id) {
  return wait_done([&](StatusDone done) { service_->problems().remove(id, std::move(done)); });
}

protocol::WorkRequest World::work_request(int slots) const {
  protocol::WorkRequest request;
  request.platforms = {"x86_64-linux"};
  request.cores = 4;
  for (int slot = 0; slot < slots; ++slot) request.slots.push_back({slot, true});
  return request;
}

Result<protocol::WorkReply> World::work(HostId host, const protocol::WorkRequest& request) {
  return wait<protocol::WorkReply>([&](auto done) { service_->work().work(host, request, std::move(done)); });
}

std::vector<protocol::Grant> World::grants(HostId host, int slots) {
  const auto reply = must(work(host, work_request(slots)));
  INFO(reply.reason);
  REQUIRE(!reply.grants.empty());
  std::vector<protocol::Grant> grants;
  for (const auto& statement : reply.grants)
    grants.push_back(must(protocol::decode<protocol::Grant>(statement.payload)));
  return grants;
}

Result<protocol::Acknowledgement> World::commit(HostId host, const protocol::CommitRequest& request) {
  const auto prepared = wait<std::vector<PreparedCommit>>(
      [&](auto done) { service_->commits().prepare(host, {request}, std::move(done)); });
  if (!prepared.ok()) return prepared.error();
  return wait<protocol::Acknowledgement>([&](auto done) {
    service_->kernel().decide<protocol::Acknowledgement>(
        [&](Transaction& tx, Result<protocol::Acknowledgement>& answer) -> Status {
          std::vector<protocol::Acknowledgement> answers;
          TRY(apply_commits(tx, host, *prepared, answers));
          answer = answers.at(0);
          return {};
        },
        std::move(done));
  });
}

protocol::CommitRequest World::results(UnitId unit, Range range, bool last,
                                       const std::function<std::string(std::int64_t)>& item) {
  Bytes segment;
  for (std::int64_t i = range.begin; i < range.end; ++i)
    protocol::append_item(segment, item ? item(i) : "item-" + std::to_string(i));
  protocol::CommitRequest request;
  request.unit = unit;
  request.range = range;
  request.digest = crypto::sha256_hex(segment);
  request.bytes = static_cast<std::int64_t>(segment.size());
  request.data = io::compress(segment);
  request.compute_seconds = 1;
  request.last = last;
  return request;
}

protocol::CommitRequest World::uploaded(protocol::CommitRequest request) {
  (void)must(service_->kernel().blobs().put(must(io::decompress(*request.data, request.bytes))));
  request.data.reset();
  return request;
}

void World::finish(const protocol::Grant& grant) {
  const auto answer = must(commit(grant.host, results(grant.unit, grant.range, true)));
  INFO(answer.reason);
  REQUIRE(answer.status == protocol::CommitStatus::accepted);
}

HeldWriter::HeldWriter(World& world) {
  const auto begun = std::make_shared<std::promise<void>>();
  world.service().kernel().writer().submit(
      [begun, go_on = go_on_.get_future().share()](Transaction&) -> Status {
        begun->set_value();
        go_on.wait();
        return {};
      },
      [](Status) { return Writer::Answer{}; });
  begun->get_future().wait();
}

HeldWriter::~HeldWriter() {
  go_on_.set_value();
}

std::string replay_fault(World& world) {
  world.tick();
  const Bytes text = must(io::real_files().read(world.project().decisions(), 16 << 20));
  std::string_view log = text;
  policy::ProjectReplay replay;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    must(replay.feed(line, "log"));
    if (replay.parting()) return std::string(line);
    log.remove_prefix(std::min(line.size() + 1, log.size()));
  }
  return {};
}

void with_each_failure(World& world, const std::function<Status(World&)>& act) {
  for (int n = 1; n < 200; ++n) {
    INFO("call " << n << " of the store fails");
    world.settle();
    const std::string before = world.memory();
    world.store().fail_at(n);
    const Status status = act(world);
    world.store().heal();
    world.settle();
    if (!world.store().failed()) {
      INFO((status.ok() ? "" : status.error().message));
      REQUIRE(status.ok());
      REQUIRE(n > 2);  // at least the begin and the commit have failed
      (void)world.memory();
      return;
    }
    REQUIRE(!status.ok());
    CHECK(status.error().kind == ErrorKind::unavailable);
    CHECK(says(status.error().message, "try again later"));
    REQUIRE(world.memory() == before);
  }
  FAIL("it never succeeds");
}

}  // namespace gleaner::service::testing
