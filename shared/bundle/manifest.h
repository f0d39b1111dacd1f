// manifest.toml of an application (apps/CONTRACT.md). Parsed values are within shared/base/limits.h; paths
// are relative, inside the bundle, and exist when read_bundle() says so.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/bundle/problem_form.h"

namespace gleaner::bundle {

enum class Comparison : int { exact = 1, manager = 2 };
// What the manager's `validate` finds: results that are not even well-formed, some wrong ones, every wrong
// one.
enum class Checks : int { form = 1, some = 2, all = 3 };

// How viewers on volunteers' computers may show finished items; it changes no result. Parameters are named,
// with a default for problems that do not give them.
struct ViewDeclaration {
  std::string kind = "quilt";  // quilt, rows, heat, tour, tiles or cells
  std::string value =
      "rgb8";        // rgb8, grey8, uint16, uint32, uint64, float32, float64 or escape; little-endian
  std::string rows;  // of the whole picture
  std::int64_t rows_default = 0;
  std::string columns;  // of a heat map, or of tiles together
  std::int64_t columns_default = 0;
  std::int64_t columns_more = 0;  // added to it
  std::string lines;              // of a heat map; 0: all that an item has
  std::int64_t lines_default = 0;
  std::int64_t tile_part = 0, tile_min = 1, tile_max = 1;
  std::string inside;  // the count of points that never escape
  std::int64_t inside_default = 0;
  std::int64_t skip = 0;   // bytes of an item before the values
  std::int64_t stage = 0;  // whose items these are
};

struct Manifest {
  std::string name;
  std::string version;
  std::string title;
  // Versions whose results this one continues: what they computed of a problem stays, the rest is this one's.
  std::vector<std::string> compatible_with;
  std::vector<std::string> needs;              // that a host must meet (shared/base/capability.h)
  std::map<std::string, std::string> kernels;  // platform -> file
  std::string manager;
  bool keeps_inputs = false;  // the problem's own inputs are for the manager only
  // [wrap]: a program of the bundle and its arguments (apps/wrap/command.h); then there are no kernels and
  // no manager until the bundle is completed (shared/bundle/wrap.h).
  std::vector<std::string> wrap;
  std::string wrap_suffix;
  bool wrap_rows = false;                           // an item is a row of a table
  std::map<std::string, std::string> wrap_numbers;  // columns of the results: expressions that find them
  std::vector<std::string> wrap_ignore;             // parts of the output (apps/wrap/ignored.h)
  std::string wrap_compare;                         // a program that decides whether two results are equal
  std::string item_meaning;
  bool split = true;
  bool checkpoint = false;
  Comparison comparison = Comparison::exact;
  Checks checks = Checks::form;
  int threads = 1;  // 0: all allowed
  std::int64_t memory_bytes = std::int64_t{256} << 20;
  std::int64_t disk_bytes = std::int64_t{64} << 20;
  std::int64_t item_bytes = 1 << 20;
  double item_seconds = 600;
  ViewDeclaration view;
  std::shared_ptr<const ProblemForm> form;  // one for all copies; never null once parsed

  // The kernel for the first platform of the list that there is one for ("any" last); empty if none.
  [[nodiscard]] std::string kernel_for(const std::vector<std::string>& platforms) const;
};

// All mistakes are listed, a line each, with file, line and key. `file` is for messages only.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text, const std::string& file);
// Parses back to the same. REQUIRES: kernels and a manager, no [wrap].
[[nodiscard]] std::string render_manifest(const Manifest& manifest);

}  // namespace gleaner::bundle
