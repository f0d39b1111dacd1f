// A whole server but for HTTP: a project in a directory of its own, the real store behind FailingStore, a
// clock that stands still, real managers (a shell script), and calls that wait for their answers.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "server/service/service.h"
#include "server/service/work/life_cycle.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"
#include "tests/unit/service/failing_store.h"
#include "tests/unit/service/joining_keys.h"
#include "tests/unit/service/model_text.h"

namespace gleaner::service::testing {

using storage::testing::FailingStore;

// FakeClock is for one thread; a service has several.
class StandingClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override { return start_ + Duration{passed_} + Duration{jumped_}; }
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime{Duration{passed_}}; }
  void advance(Duration by) { passed_ += by.count(); }
  void jump_calendar(Duration by) { jumped_ += by.count(); }

 private:
  Timestamp start_ = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  std::atomic<std::int64_t> passed_{0}, jumped_{0};
};

// The value, or a failed test with the error's message.
template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result.ok() ? Status{} : Status{result.error()};
}

struct TestHost {
  HostId id;
  std::string token;
};

struct ManagerOptions {
  std::string version = "1.0.0";
  std::string comparison = "exact";
  bool checkpoint = false;
  std::string compatible_with = {};  // a version; none
  std::string checks = "form";
  std::string form = {};  // [[parameter]] and [[input]] of its manifest
};

// What hosts are that join with the code of World's secret().
enum class Hosts { own, strangers };

class World {
 public:
  explicit World(const std::function<void(Configuration&)>& change = {}, Hosts hosts = Hosts::own);
  explicit World(Hosts hosts) : World({}, hosts) {}
  ~World();

  [[nodiscard]] Service& service() { return *service_; }
  [[nodiscard]] FailingStore& store() { return *store_; }
  [[nodiscard]] StandingClock& clock() { return clock_; }
  [[nodiscard]] const io::Path& directory() const { return directory_.root(); }
  [[nodiscard]] const ProjectDirectory& project() const { return directory_; }
  [[nodiscard]] const Bytes& secret() const { return secret_; }
  // Ends the server and starts it on the same directory, to which something may happen meanwhile.
  void restart(const std::function<void()>& meanwhile = {});
  // Where its blobs are from its next start on, if not in files.
  std::function<std::unique_ptr<storage::BlobStore>()> make_blobs;
  // One second passes; waits until all that follows is done.
  void tick();
  // Until the pool and the writer have nothing to do.
  void settle();

  // Answers, waited for.
  template <typename T>
  [[nodiscard]] static Result<T> wait(const std::function<void(Done<T>)>& call) {
    auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    call([promise](Result<T> result) { promise->set_value(std::move(result)); });
    REQUIRE(future.wait_for(std::chrono::seconds{60}) == std::future_status::ready);
    return future.get();
  }
  [[nodiscard]] static Status wait_done(const std::function<void(StatusDone)>& call);
  // Runs on the writer thread.
  template <typename T>
  [[nodiscard]] T look(std::function<T(Transaction&)> read) {
    return must(wait<T>([&](Done<T> done) {
      service_->kernel().decide<T>(
          [read](Transaction& tx, Result<T>& value) -> Status {
            value = read(tx);
            return {};
          },
          std::move(done));
    }));
  }

  // The operation in a transaction that it shares with nobody who waits here.
  [[nodiscard]] Status operate(const Operation& operation);

  // What memory says, after checking that the store says the same.
  [[nodiscard]] std::string memory();

  // Shortcuts of use cases
  [[nodiscard]] protocol::AddApplication application(const ManagerOptions& options = {});
  void add_application(const ManagerOptions& options = {});
  // In a network of its own, unless one is named.
  [[nodiscard]] TestHost add_host(const std::string& name = "host", const std::string& network = "");
  [[nodiscard]] protocol::EnrolRequest enrol_request(const std::string& name) const;
  // Of the service; no two are of one time.
  [[nodiscard]] Bytes nonce();
  // With the proof of its key, if that is one of key_of() and there is none yet.
  [[nodiscard]] protocol::EnrolRequest proven(protocol::EnrolRequest request,
                                              std::optional<HostId> relay = {});
  // Proven.
  [[nodiscard]] Result<protocol::EnrolReply> enrol(const protocol::EnrolRequest& asked,
                                                   const std::string& network = "127.0.0.1");
  [[nodiscard]] Result<protocol::ProblemInfo> try_add_problem(const protocol::AddProblem& request);
  // Whose results are not audited.
  [[nodiscard]] ProblemId add_problem(int items, const std::string& more = "",
                                      const std::string& strategy = "");
  [[nodiscard]] protocol::ProblemInfo show(ProblemId id);
  [[nodiscard]] Result<protocol::ProblemInfo> change(ProblemId id, Problems::Action action);
  [[nodiscard]] Status remove(ProblemId id);
  [[nodiscard]] Result<protocol::WorkReply> work(HostId host, const protocol::WorkRequest& request);
  // One slot that is idle.
  [[nodiscard]] protocol::WorkRequest work_request(int slots = 1) const;
  // The grants of a request that must bring some.
  [[nodiscard]] std::vector<protocol::Grant> grants(HostId host, int slots = 1);
  // What a request for work does with a result, and nothing else: what the host holds is not looked at.
  [[nodiscard]] Result<protocol::Acknowledgement> commit(HostId host, const protocol::CommitRequest& request);
  // "item-N" for each, or what `item` says.
  [[nodiscard]] static protocol::CommitRequest results(
      UnitId unit, Range range, bool last = false, const std::function<std::string(std::int64_t)>& item = {});
  // The same commit with its bytes uploaded beforehand: they stay in a blob.
  [[nodiscard]] protocol::CommitRequest uploaded(protocol::CommitRequest request);
  // Delivers all of the unit, which must be accepted.
  void finish(const protocol::Grant& grant);

 private:
  void open();

  gleaner::testing::TemporaryDirectory temporary_;
  ProjectDirectory directory_;
  Configuration configuration_;
  Bytes secret_;
  std::string project_id_;
  StandingClock clock_;
  Timestamp last_nonce_;
  FailingStore* store_ = nullptr;
  std::unique_ptr<Service> service_;
};

// While one lives, the writer is held up in an operation; what is submitted meanwhile waits together.
class HeldWriter {
 public:
  explicit HeldWriter(World& world);
  ~HeldWriter();
  HeldWriter(const HeldWriter&) = delete;
  HeldWriter& operator=(const HeldWriter&) = delete;

 private:
  std::promise<void> go_on_;
};

// Its decision log replays to the same decisions: empty; else the first line that does not.
[[nodiscard]] std::string replay_fault(World& world);

// Does `act` with the first, the second, … call of the store failing until none fails any more. Each failure
// must be answered, leave memory and store as they were, and not stand in the way of the same request.
void with_each_failure(World& world, const std::function<Status(World&)>& act);

}  // namespace gleaner::service::testing
