// Whether a server should be sent requests, and the reason if not.
#include "server/policy/readiness.h"

#include "tests/catch.h"

using namespace gleaner;
using policy::readiness;
using policy::ReadinessFacts;

namespace {

ReadinessFacts well() {
  ReadinessFacts facts;
  facts.requests_under_way_max = 10;
  facts.requests_under_way = 9;
  facts.writer_waits = policy::writer_patience;
  return facts;
}

std::string reason(const ReadinessFacts& facts) {
  const Status status = readiness(facts);
  if (status.ok()) return "ready";
  CHECK(status.error().kind == ErrorKind::unavailable);
  return status.error().message.substr(0, status.error().message.find(':'));
}

}  // namespace

TEST_CASE("a server is ready up to each limit, and beyond it says which") {
  CHECK(reason(well()) == "ready");
  ReadinessFacts facts = well();
  facts.requests_under_way = 10;
  CHECK(reason(facts) == "overload");
  facts.blobs_away = true;
  CHECK(reason(facts) == "blobs");
  facts.disk_full = true;
  CHECK(reason(facts) == "disk");
  facts.writer_waits += Duration{1};
  CHECK(reason(facts) == "writer");
  facts.store_failing = true;
  CHECK(reason(facts) == "store");
  facts.stopping = true;
  CHECK(reason(facts) == "stopping");
}
