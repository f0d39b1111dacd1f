#include "client/state/notices.h"

#include "tests/catch.h"
#include "tests/fuzz/memory_files.h"

namespace gleaner::state {
namespace {
using namespace std::chrono_literals;
using client_policy::NoticeMemory;
using client_policy::Trouble;

const io::Path path = "state/notices";

TEST_CASE("What the owner was told comes back, and what cannot be read is nothing") {
  fuzz::MemoryFiles files;
  CHECK(load_notices(files, path) == NoticeMemory{});
  const Timestamp now = from_microseconds(1'767'225'600'000'000);
  NoticeMemory memory;
  memory.entries = {{"key", Trouble::unreachable, now - 10h, true, now - 1h},
                    {"", Trouble::no_work, now, false, {}}};
  memory.shown_at = now - 2h;
  REQUIRE(save_notices(files, path, memory).ok());
  CHECK(load_notices(files, path) == memory);
  for (const char* wrong :
       {"", "[]", "{\"entries\":[1,{\"project\":\"x\",\"trouble\":6,\"since\":1,\"told\":true}]}",
        "{\"entries\":7,\"shown_at\":-1}"}) {
    REQUIRE(files.write(path, wrong, io::Mode::secret).ok());
    CHECK(load_notices(files, path) == NoticeMemory{});
  }
}

}  // namespace
}  // namespace gleaner::state
