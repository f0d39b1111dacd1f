// Manifests: what is accepted is within the limits and names only files inside the bundle.
#include <cmath>

#include "shared/base/limits.h"
#include "shared/bundle/manifest.h"
#include "shared/json/text.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

void check_path(const std::string& path) {
  CHECK_TRUE(!path.empty() && path.front() != '/');
  CHECK_TRUE(("/" + path + "/").find("/../") == std::string::npos);
}

// Defaults are what the form itself accepts, and a problem of nothing but them is refused only for what must
// be given.
void check_form(const bundle::ProblemForm& form) {
  CHECK_TRUE(form.parameters.size() <= static_cast<std::size_t>(limits::declared_parameters_max));
  CHECK_TRUE(form.inputs.size() <= static_cast<std::size_t>(limits::declared_inputs_max));
  json::Value problem = json::Value::object();
  bool complete = true;
  for (const auto& each : form.parameters) {
    CHECK_TRUE(!each.name.empty() &&
               each.meaning.size() <= static_cast<std::size_t>(limits::meaning_length_max));
    CHECK_TRUE(!(each.low && each.high) || *each.low <= *each.high);
    complete = complete && !each.required;
    if (!each.default_value.empty()) problem[each.name] = *json::parse(each.default_value);
  }
  std::vector<std::string> inputs;
  for (const auto& each : form.inputs) inputs.push_back(each.name);
  const Status checked = bundle::check_problem(form, problem, inputs);
  CHECK_TRUE(checked.ok() == complete);
  CHECK_TRUE(checked.ok() ||
             checked.error().message.size() <= static_cast<std::size_t>(limits::message_length_max));
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
  check_form(*manifest->form);
  return 0;
}
