// An object store in memory behind io::HttpClient, as far as objects::Bucket uses one: its objects, parts and
// listings, and what the test wants it to get wrong. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/io/http_client.h"

namespace gleaner::storage::testing {

class MemoryObjects {
 public:
  explicit MemoryObjects(const Clock& clock) : clock_(clock) {}

  struct Object {
    Bytes bytes;
    std::string etag;
    Timestamp modified{};
  };
  struct Upload {
    std::string key;
    std::map<int, Bytes> parts;
    Timestamp begun{};
  };

  // Asked before each request; what it answers is the answer.
  std::function<std::optional<Result<io::HttpReply>>(const io::HttpRequest&)> before;
  // Changes bytes that go out of the store.
  std::function<void(const std::string& key, Bytes& bytes)> spoil;
  bool tells_checksums = true;  // as ETags

  std::map<std::string, Object> objects;  // by "/BUCKET/KEY"
  std::map<std::string, Upload> uploads;  // by id
  int requests = 0;

  // The same for threads beside the test's.
  void set_before(decltype(before) answer) {
    const std::lock_guard lock(mutex_);
    before = std::move(answer);
  }
  [[nodiscard]] bool has(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return objects.contains(path);
  }
  [[nodiscard]] std::unique_ptr<io::HttpClient> client();
  [[nodiscard]] Result<io::HttpReply> answer(const io::HttpRequest& request);

 private:
  [[nodiscard]] io::HttpReply get(const io::HttpRequest& request, const std::string& key);
  [[nodiscard]] io::HttpReply put(const io::HttpRequest& request, const std::string& key,
                                  const std::map<std::string, std::string>& query);
  [[nodiscard]] io::HttpReply post(const std::string& key, const std::map<std::string, std::string>& query);
  [[nodiscard]] io::HttpReply list(const std::string& bucket,
                                   const std::map<std::string, std::string>& query);

  const Clock& clock_;
  std::mutex mutex_;
  int next_ = 1;
};

}  // namespace gleaner::storage::testing
