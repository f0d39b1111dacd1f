#include "shared/protocol/error_status.h"

#include <set>

#include "tests/catch.h"

namespace gleaner::protocol {
namespace {

std::vector<ErrorKind> all_kinds() {
  std::vector<ErrorKind> kinds;
  for (int number = 1; number <= static_cast<int>(ErrorKind::banned); ++number)
    kinds.push_back(static_cast<ErrorKind>(number));
  return kinds;
}

}  // namespace

TEST_CASE("an error is heard as it was told, but io, which is the teller's own", "[error_status]") {
  std::set<std::string> titles;
  for (const ErrorKind kind : all_kinds()) {
    INFO(name_of(kind));
    const ErrorKind heard = kind == ErrorKind::io ? ErrorKind::unavailable : kind;
    const ProblemDocument document = problem_document({kind, "what to do"});
    CHECK(document.status == status_of(kind));
    CHECK(document.detail == "what to do");
    // A bare 403 is no ban.
    CHECK(kind_of_status(status_of(kind)) == (kind == ErrorKind::banned ? ErrorKind::forbidden : heard));
    CHECK(kind_of_problem(document, document.status) == heard);
    CHECK(kind_of_problem(document, 418) == heard);  // the name counts first
    CHECK(titles.insert(document.title).second);
  }
}

TEST_CASE("statuses that others send are understood", "[error_status]") {
  for (const int passing : {408, 425, 429, 502, 503, 504})
    CHECK(kind_of_status(passing) == ErrorKind::unavailable);
  CHECK(kind_of_status(410) == ErrorKind::not_found);
  for (const int wrong : {402, 405, 411, 416, 418, 431, 499})
    CHECK(kind_of_status(wrong) == ErrorKind::invalid);
  for (const int odd : {0, 100, 200, 302, 399, 500, 501, 505, 599, 600, -1})
    CHECK(kind_of_status(odd) == ErrorKind::internal);
}

TEST_CASE("a document whose kind is not known is taken by its status", "[error_status]") {
  for (const char* type : {"about:blank", "", "urn:gleaner:error:", "urn:gleaner:error:from-the-future",
                           "urn:gleaner:error:conflict2", "urn:other:error:conflict"}) {
    INFO(type);
    CHECK(kind_of_problem({type, "", 404, ""}, 404) == ErrorKind::not_found);
  }
}

}  // namespace gleaner::protocol
