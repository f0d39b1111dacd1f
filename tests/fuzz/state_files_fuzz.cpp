// What a client finds in its state directory after whatever happened to the disk. The first byte says which
// file: the owner's word, what each project had, who this host is, the owner's preferences beside those that
// an administrator locked. What is read can be written, and is the same then.
#include <algorithm>

#include "client/settings/preferences.h"
#include "client/state/controls.h"
#include "client/state/identity.h"
#include "client/state/usage.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

using namespace gleaner;

namespace {

const io::Path path = "state/file";

void check_controls(fuzz::MemoryFiles& files) {
  const auto controls = state::load_controls(files, path);
  if (!controls.ok()) return CHECK_TRUE(!controls.error().message.empty());
  const Timestamp now = from_microseconds(1'767'225'600'000'000);
  if (const auto left = controls->pause_left(now); left && *left != Duration::max())
    CHECK_TRUE(*left > Duration{0} && *left <= *controls->pause_length);
  CHECK_TRUE(state::save_controls(files, path, *controls).ok());
  const auto again = state::load_controls(files, path);
  CHECK_TRUE(again.ok() && again->enabled == controls->enabled && again->finish == controls->finish &&
             again->pause_length == controls->pause_length);
}

void check_usage(fuzz::MemoryFiles& files) {
  const auto uses = state::load_usage(files, path);
  for (const auto& [key, use] : uses) CHECK_TRUE(use.virtual_time >= 0 && use.recent >= 0);
  CHECK_TRUE(state::save_usage(files, path, uses).ok());
  CHECK_TRUE(state::load_usage(files, path).size() == uses.size());
}

void check_identity(fuzz::MemoryFiles& files, std::string_view text) {
  const state::ProjectDirectory project{"state/projects/0123456789abcdef"};
  for (const char* name : {"join-code", "host.json", "machine", "name", "project.json", "unheard", "moved"}) {
    const auto end = std::min(text.find('\n'), text.size());
    files.files[project.identity() / name] = Bytes(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  files.files[project.identity() / "host.key"] = Bytes(text);
  (void)state::load_or_make_key(files, project);
  const auto identity = state::load_identity(files, project);
  if (!identity.ok()) return CHECK_TRUE(!identity.error().message.empty());
  (void)identity->project_name();
  CHECK_TRUE(state::save_identity(files, project, *identity).ok());
  const auto again = state::load_identity(files, project);
  CHECK_TRUE(again.ok() && again->host.host == identity->host.host && again->name == identity->name &&
             again->code.root_fingerprint == identity->code.root_fingerprint);
}

// One file, or a line for the drop-in, a line for `key` and one for its value.
void check_preferences(fuzz::MemoryFiles& files, std::string_view text) {
  const auto line = [&] {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string taken(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
  };
  const settings::PreferenceFiles places{"preferences.toml", "preferences.d"};
  files.files[places.drop_in / "10-administrator.toml"] = line();
  const std::string key = line();
  const std::string value = line();
  files.files[places.own] = Bytes(text);
  auto book = settings::PreferenceBook::load(files, places);
  if (!book.ok()) return CHECK_TRUE(!book.error().message.empty());
  (void)book->values().owner_settings(std::int64_t{4} << 30);
  const auto lines = book->lines();
  const bool locked =
      std::any_of(lines.begin(), lines.end(), [&](const auto& one) { return one.key == key && one.locked; });
  if (const Status set = book->set(files, key, value); set.ok()) {
    CHECK_TRUE(!locked);  // what is locked stays
    CHECK_TRUE(settings::PreferenceBook::load(files, places).ok());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  fuzz::MemoryFiles files;
  files.files[path] = Bytes(text);
  switch (data[0] % 4) {
    case 0:
      check_controls(files);
      break;
    case 1:
      check_usage(files);
      break;
    case 2:
      check_identity(files, text);
      break;
    default:
      check_preferences(files, text);
  }
  return 0;
}
