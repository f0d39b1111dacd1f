// What administrators hand to gleaner-admin: a fleet, a profile, parameters over a base. The first byte says
// which. What is taken is within its bounds, and composed parameters are an object again.
#include "shared/json/text.h"
#include "tests/fuzz/fuzz.h"
#include "tools/admin/documents.h"
#include "tools/admin/fleet_file.h"

using namespace gleaner;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text = fuzz::text_of(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0: {
      const auto fleet = admin::parse_fleet(text);
      CHECK_TRUE(fleet.ok() || !fleet.error().message.empty());
      break;
    }
    case 1: {
      const auto profile = admin::parse_profile(text);
      if (!profile.ok()) break;
      CHECK_TRUE(profile->root_fingerprint.size() == 64);  // the address is checked where all of them are
      break;
    }
    default: {
      const auto end = std::min(text.find('\0'), text.size());
      const std::string_view base = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      std::vector<std::string> settings;
      while (!text.empty() && settings.size() < 16) {
        const auto stop = std::min(text.find('\n'), text.size());
        settings.emplace_back(text.substr(0, stop));
        text.remove_prefix(std::min(stop + 1, text.size()));
      }
      if (const auto composed = admin::compose_parameters(base, settings); composed.ok()) {
        const auto object = json::parse(*composed);
        CHECK_TRUE(object.ok() && object->is_object());
        CHECK_TRUE(admin::compose_parameters(*composed, {}).ok());
      }
    }
  }
  return 0;
}
