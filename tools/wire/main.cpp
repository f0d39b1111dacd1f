// gleaner-wire ROOT [--check]: writes what is published of the wire into the source tree at ROOT, or says
// whether it is up to date.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/limits.h"
#include "shared/io/files.h"
#include "shared/terminal/print.h"
#include "shared/terminal/run.h"
#include "tools/wire/published.h"

namespace gleaner::wire {
namespace {

constexpr std::int64_t bytes_max = 4 << 20;
constexpr std::string_view table_begins = "<!-- operations: written by gleaner-wire -->\n";
constexpr std::string_view table_ends = "<!-- end of operations -->\n";

Result<std::string> with_table(const std::string& page, const std::string& table) {
  const auto begin = page.find(table_begins);
  const auto end = page.find(table_ends);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return Error{ErrorKind::invalid, "shared/protocol/API.md lacks the marks around its table of operations"};
  return page.substr(0, begin + table_begins.size()) + table + page.substr(end);
}

Result<bool> publish(const io::Path& root, bool check) {
  auto& files = io::real_files();
  Catalog catalog;
  const auto all = operations(catalog);
  TRY_ASSIGN(const std::string page, files.read(root / "shared/protocol/API.md", bytes_max));
  TRY_ASSIGN(std::string new_page, with_table(page, operation_table(catalog, all)));
  const std::vector<std::pair<const char*, std::string>> made{
      {"server/http/openapi.yaml", openapi(catalog, all)},
      {"server/console/web/src/messages.ts", console_types(catalog, all)},
      {"tools/python/gleaner/_wire.py", python_types(catalog, all)},
      {"shared/protocol/API.md", std::move(new_page)}};
  bool good = true;
  for (const auto& [name, text] : made) {
    if (!check) {
      TRY(files.write(root / name, text, io::Mode::normal));
    } else if (const auto present = files.read(root / name, bytes_max); !present.ok() || *present != text) {
      terminal::print("{}: run gleaner-wire {}\n", name, root.string());
      good = false;
    }
  }
  return good;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() > 2 || (arguments.size() == 2 && arguments[1] != "--check")) {
    terminal::print(stderr, "usage: gleaner-wire ROOT [--check]\n");
    return 2;
  }
  const auto good = publish(arguments[0], arguments.size() == 2);
  if (!good.ok()) terminal::print(stderr, "gleaner-wire: {}\n", good.error().message);
  return good.ok() && *good ? 0 : 1;
}

}  // namespace
}  // namespace gleaner::wire

int main(int argc, char** argv) {
  return gleaner::terminal::run("gleaner-wire", [&] {
    return gleaner::wire::run({argv + (argc > 0), argv + argc});
  });
}
