// A PostgreSQL of the test's own: made in a temporary directory at first use, on a unix socket, by an
// ordinary user; it ends with the process, however that ends.
#pragma once

#include <optional>
#include <string>

namespace gleaner::storage::testing {

// Where PostgreSQL's server programs are; nothing: not installed, or ordinary users can run nothing here.
[[nodiscard]] std::optional<std::string> postgres_programs();

class PostgresCluster {
 public:
  // REQUIRES: postgres_programs(). Throws, with what it said, if it cannot be started.
  [[nodiscard]] static PostgresCluster& started();
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  [[nodiscard]] std::string url(const std::string& database) const;
  // A new, empty one; its name.
  [[nodiscard]] std::string create_database();
  void drop_database(const std::string& name);
  // Of all its processes that are running.
  [[nodiscard]] double processor_seconds() const;

 private:
  PostgresCluster();
  std::string directory_;
  int process_ = 0;
  int databases_ = 0;
};

}  // namespace gleaner::storage::testing
