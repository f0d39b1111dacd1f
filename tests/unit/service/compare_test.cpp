// Several hosts' results of the same items, compared item by item.
#include "server/service/work/compare.h"

#include "shared/protocol/segment.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

// Segments of items 0 … in a project without any problem: exact comparison asks no manager.
struct Compared {
  World world;
  service::effect::Review job;

  Compared() {
    job.range = {0, 3};
    job.item_bytes_max = 64;
  }
  void deliver(HostId host, Range range, const std::vector<std::string>& items) {
    Bytes segment;
    for (const std::string& item : items) protocol::append_item(segment, item);
    storage::SegmentRow row;
    row.id = SegmentId{static_cast<std::int64_t>(job.segments.size()) + 1};
    row.host = host;
    row.range = range;
    row.digest = must(world.service().kernel().blobs().put(segment));
    job.segments.push_back(row);
    job.witnesses[host].host = host;
  }
  Result<std::vector<service::ReviewFinding>> compare() {
    auto& kernel = world.service().kernel();
    return service::compare(job, kernel);
  }
};

constexpr HostId anna{1}, bert{2}, carl{3};

}  // namespace

TEST_CASE("neighbours with the same verdict are one finding") {
  Compared c;
  c.deliver(anna, {0, 3}, {"a", "b", "c"});
  c.deliver(bert, {0, 3}, {"a", "b", "c"});
  const auto findings = must(c.compare());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].range == Range{0, 3});
  CHECK(findings[0].verdict.kind == policy::VerdictKind::agree);
  REQUIRE(findings[0].opinions.size() == 2);
  CHECK(findings[0].opinions[0].segment == SegmentId{1});
  CHECK(findings[0].opinions[1].host == bert);
}

TEST_CASE("an item that differs is a finding of its own between its neighbours") {
  Compared c;
  c.deliver(anna, {0, 3}, {"a", "b", "c"});
  c.deliver(bert, {0, 3}, {"a", "x", "c"});
  const auto findings = must(c.compare());
  REQUIRE(findings.size() == 3);
  CHECK(findings[1].range == Range{1, 2});
  CHECK(findings[0].verdict.kind == policy::VerdictKind::agree);
  CHECK(findings[1].verdict.kind == policy::VerdictKind::need_another);
  CHECK(findings[1].verdict.differ);
  CHECK(findings[2].verdict.kind == policy::VerdictKind::agree);
}

TEST_CASE("segments count for the items that they have, wherever they begin") {
  Compared c;
  c.deliver(anna, {0, 2}, {"a", "b"});
  c.deliver(bert, {1, 3}, {"b", "c"});
  c.deliver(carl, {2, 5}, {"c", "d", "e"});
  const auto findings = must(c.compare());
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].opinions.size() == 1);
  CHECK(findings[1].opinions.size() == 2);
  CHECK(findings[1].verdict.kind == policy::VerdictKind::agree);
  CHECK(findings[2].opinions.front().host == bert);
  CHECK(findings[2].opinions.back().host == carl);
}

TEST_CASE("who began an item is the one whose opinion it is") {
  Compared c;
  c.deliver(anna, {0, 3}, {"a", "b", "c"});
  c.job.begun_by[{SegmentId{1}, 0}] = carl;
  c.job.witnesses[carl].host = carl;
  const auto findings = must(c.compare());
  REQUIRE(!findings.empty());
  CHECK(findings.front().opinions.at(0).host == carl);
  CHECK(findings.back().opinions.at(0).host == anna);
}

TEST_CASE("a segment that is gone or has other items than it says is an error, not a verdict") {
  Compared gone;
  gone.deliver(anna, {0, 3}, {"a", "b", "c"});
  gone.job.segments[0].digest = std::string(64, 'e');
  CHECK(!gone.compare().ok());
  Compared fewer;
  fewer.deliver(anna, {0, 3}, {"a", "b"});
  CHECK(!fewer.compare().ok());
  Compared larger;
  larger.deliver(anna, {0, 3}, {"a", "b", std::string(65, 'c')});
  CHECK(!larger.compare().ok());
}

TEST_CASE("where the manager compares and cannot, there is no verdict") {
  Compared c;
  c.job.comparison = bundle::Comparison::manager;
  c.job.manager = {ProblemId{1}, std::string(64, 'a'), "no-such-program", "{}", {}};
  c.deliver(anna, {0, 3}, {"a", "b", "c"});
  c.deliver(bert, {0, 3}, {"a", "b", "c"});
  CHECK(must(c.compare()).size() == 1);  // the same bytes need no manager
  c.deliver(carl, {0, 3}, {"x", "b", "c"});
  CHECK(!c.compare().ok());
}
