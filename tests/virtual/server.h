// A service on a real store in a directory of its own (in memory where the system has such a file system:
// nothing here is about syncs that hold), with a clock that stands, a store whose calls fail on demand, and a
// manager without a process. One thread calls it; whatever cannot be ends the program.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "server/service/service.h"
#include "server/service/work/life_cycle.h"
#include "tests/fuzz/numbers_manager.h"
#include "tests/unit/service/failing_store.h"

namespace gleaner::virtual_time {

class StandingClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return from_microseconds(1'767'225'600'000'000) + Duration{passed_} + Duration{jumped_};
  }
  [[nodiscard]] SteadyTime steady() const override { return SteadyTime{Duration{passed_}}; }
  void advance(Duration by) { passed_ += by.count(); }
  void jump_calendar(Duration by) { jumped_ += by.count(); }

 private:
  std::atomic<std::int64_t> passed_{0}, jumped_{0};
};

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) fprintf(stderr, "%s\n", result.error().message.c_str());
  CHECK_TRUE(result.ok());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

template <typename T>
Result<T> wait(const std::function<void(service::Done<T>)>& call) {
  auto promise = std::make_shared<std::promise<Result<T>>>();
  auto future = promise->get_future();
  call([promise](Result<T> result) { promise->set_value(std::move(result)); });
  CHECK_TRUE(future.wait_for(std::chrono::seconds{60}) == std::future_status::ready);
  return future.get();
}

class Server {
 public:
  // `draws`: what audits follow from.
  explicit Server(const std::string& draws);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] service::Service& service() { return *service_; }
  [[nodiscard]] storage::testing::FailingStore& store() { return *store_; }
  [[nodiscard]] StandingClock& clock() { return clock_; }
  [[nodiscard]] SteadyTime now() const { return clock_.steady(); }
  // What was decided since the last start is decided again by the decision log, which begins anew.
  void restart();
  // Until the pool and the writer have nothing to do.
  void settle();
  template <typename T>
  [[nodiscard]] T look(std::function<T(service::Transaction&)> read) {
    return must(wait<T>([&](service::Done<T> done) {
      service_->kernel().decide<T>(
          [read](service::Transaction& tx, Result<T>& value) -> Status {
            value = read(tx);
            return {};
          },
          std::move(done));
    }));
  }
  [[nodiscard]] HostId add_host(int number);

 private:
  void open();
  void replay_log() const;
  void add_application();

  std::filesystem::path root_;
  service::ProjectDirectory directory_;
  service::Configuration configuration_;
  StandingClock clock_;
  Bytes secret_;
  std::string project_;
  fuzz::NumbersManagers managers_{1};
  storage::testing::FailingStore* store_ = nullptr;
  std::unique_ptr<service::Service> service_;
};

}  // namespace gleaner::virtual_time
