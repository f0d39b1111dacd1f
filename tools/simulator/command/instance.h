// A small JSON file that describes one instance, read key by key. Every mistake names the file, the line, the
// key and what was expected there: "a.json:3: rates[2]: expected a number above 0, got -1" (within a list of
// objects: the line where the list begins). Values are bounded by what the caller asks for. Errors: invalid,
// io, too_large. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::simulator {

struct Bounds {
  double low = 0;
  double high = 1e300;
  bool low_excluded = false;
};
inline constexpr Bounds above_zero{0, 1e300, true};
inline constexpr Bounds at_least_zero{0, 1e300, false};

// One object of the file: the whole, or an element of a list. Remembers which keys were asked for, so that a
// misspelled one is found. Copies share the file's content.
class Instance {
 public:
  // The object that the file is.
  [[nodiscard]] static Result<Instance> read(const std::string& file);
  [[nodiscard]] static Result<Instance> parse(const std::string& file, std::string text);

  // Whether the key is there and not null.
  [[nodiscard]] bool has(std::string_view key);
  // Absent: the fallback, or an error if there is none.
  [[nodiscard]] Result<double> number(std::string_view key, Bounds bounds,
                                      std::optional<double> fallback = {});
  [[nodiscard]] Result<std::int64_t> whole(std::string_view key, std::int64_t low, std::int64_t high,
                                           std::optional<std::int64_t> fallback = {});
  [[nodiscard]] Result<bool> flag(std::string_view key, bool fallback);
  // A list of at most `most` numbers; an error if it is absent.
  [[nodiscard]] Result<std::vector<double>> numbers(std::string_view key, Bounds bounds, std::size_t most);
  // The same with exactly `count` of them; `what` they are, one each of: "host".
  [[nodiscard]] Result<std::vector<double>> numbers_for(std::string_view key, Bounds bounds,
                                                        std::size_t count, std::string_view what);
  // A list of lists: `rows` of `columns` numbers from 0 on; or one list of `columns` numbers for all rows.
  [[nodiscard]] Result<std::vector<std::vector<double>>> table(std::string_view key, std::size_t rows,
                                                               std::size_t columns);
  // A list of objects; an error if it is absent.
  [[nodiscard]] Result<std::vector<Instance>> objects(std::string_view key, std::size_t most);
  // An error that names a key nobody asked for.
  [[nodiscard]] Status nothing_left() const;
  [[nodiscard]] Error mistake(std::string_view key, std::string_view expected) const;

 private:
  struct File {
    std::string name;
    std::string text;
    json::Value document;
  };
  Instance(std::shared_ptr<const File> file, std::string place, const json::Value& object)
      : file_(std::move(file)), place_(std::move(place)), object_(&object) {}
  [[nodiscard]] const json::Value* ask(std::string_view key);
  [[nodiscard]] Result<double> checked(const std::string& key, const json::Value& value, Bounds bounds) const;
  [[nodiscard]] Result<std::vector<double>> listed(const std::string& key, const json::Value& list,
                                                   Bounds bounds) const;
  [[nodiscard]] Error at(std::string_view key, std::string_view text) const;

  std::shared_ptr<const File> file_;
  std::string place_;  // "hosts[1].", empty for the whole
  const json::Value* object_;
  std::vector<std::string> asked_;
};

}  // namespace gleaner::simulator
