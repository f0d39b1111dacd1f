// Checks delivered segments in the leader's stead: learns from it what a unit is a part of, brings the
// application and the problem's inputs here (signatures and digests are looked at as the server does), and
// has the application's manager, confined here, say what it thinks. Keeps nothing that cannot be asked again.
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/front/depot.h"
#include "server/link/messages.h"
#include "server/service/work/segment_check.h"
#include "shared/base/thread_pool.h"

namespace gleaner::front {

// A request under way, and who sent it.
struct Asked {
  http::Request request;
  std::string token;
  Bytes digest;  // as whom the asker is remembered (visitors.h)
  http::Reply reply;
  [[nodiscard]] link::Caller caller() const { return {token, request.peer, request.network}; }
};

class Checker {
 public:
  struct Surroundings {
    io::Files& files;
    io::ProcessRunner& processes;
    Clock& clock;
    const service::Settings& settings;
    storage::BlobStore& blobs;
    link::Client& leader;
    ThreadPool& pool;
    Bytes root_key;       // the project's
    std::string project;  // its id
  };
  explicit Checker(Surroundings around);

  // Can this one be checked here? Those that were uploaded, or are large, the leader has to see itself.
  [[nodiscard]] static bool can(const protocol::CommitRequest& commit);
  // `then` is called once, on a thread of the pool or the link's. An error: let the leader check it.
  using Then = std::function<void(Result<service::SegmentCheck::Checked>)>;
  void check(const std::shared_ptr<const Asked>& asked, protocol::CommitRequest commit, Then then);
  // From a grant that passed.
  void learn(const link::WorkAnswer::Unit& unit);
  [[nodiscard]] const service::ManagerSandbox& sandbox() const { return managers_.sandbox(); }
  [[nodiscard]] Depot& depot() { return depot_; }

 private:
  struct Part {
    ProblemId problem;
    int stage = 0;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  struct Place {
    std::int64_t item_bytes_max = 0;
    service::ManagerSetup manager;
    protocol::AddApplication application;
  };
  [[nodiscard]] std::shared_ptr<const Place> known(UnitId unit, Part& part);
  void ask_place(const std::shared_ptr<const Asked>& asked, protocol::CommitRequest commit, Then then);
  // On the pool: the application and inputs are here.
  [[nodiscard]] Status prepare(const Place& place);
  void check_at(const Part& part, const Place& place, protocol::CommitRequest commit, Then then);
  // Ends the manager that was not used for longest, if there are too many.
  void use(ProblemId problem);

  Surroundings around_;
  Depot depot_;
  service::Managers managers_;
  service::SegmentCheck check_;
  std::mutex preparing_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<UnitId, Part> units_;
  std::map<Part, std::shared_ptr<const Place>> places_;
  std::map<Part, std::int64_t> inputs_;     // as the last of its units said
  std::map<ProblemId, std::int64_t> used_;  // of managers: in which order
  std::int64_t uses_ = 0;
};

}  // namespace gleaner::front
