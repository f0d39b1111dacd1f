// Manifests: what is accepted is within the limits and names only files inside the bundle.
#include <cmath>

#include "shared/base/limits.h"
#include "shared/bundle/manifest.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

void check_path(const std::string& path) {
  CHECK_TRUE(!path.empty() && path.front() != '/');
  CHECK_TRUE(("/" + path + "/").find("/../") == std::string::npos);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = bundle::parse_manifest(fuzz::text_of(data, size), "manifest.toml");
  if (!manifest.ok()) {
    CHECK_TRUE(!manifest.error().message.empty());
    return 0;
  }
  CHECK_TRUE(!manifest->name.empty() &&
             manifest->name.size() <= static_cast<std::size_t>(limits::name_length_max));
  CHECK_TRUE(manifest->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
  CHECK_TRUE(manifest->kernels.empty() == !manifest->wrap.empty());
  for (const auto& [platform, file] : manifest->kernels) check_path(file);
  check_path(manifest->wrap.empty() ? manifest->manager : manifest->wrap.front());
  const bundle::ViewDeclaration& view = manifest->view;
  CHECK_TRUE(view.rows_default >= 0 && view.columns_default >= 0 && view.inside_default >= 0);
  CHECK_TRUE(view.skip >= 0 && view.skip <= limits::item_bytes_max && view.stage >= 0);
  CHECK_TRUE(manifest->threads >= 0 && manifest->memory_bytes > 0 && manifest->disk_bytes >= 0);
  CHECK_TRUE(manifest->item_bytes >= 0 && manifest->item_bytes <= limits::item_bytes_max);
  CHECK_TRUE(std::isfinite(manifest->item_seconds) && manifest->item_seconds > 0);
  (void)manifest->kernel_for({"x86_64-linux"});
  return 0;
}
