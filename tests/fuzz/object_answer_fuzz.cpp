// What an object store answers: XML of any bytes is a tree within the bounds or refused, times and addresses
// are read or not; and nothing else happens.
#include <algorithm>

#include "server/objects/bucket.h"
#include "server/objects/xml.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

std::size_t depth_of(const objects::Element& element) {
  std::size_t deepest = 0;
  for (const auto& child : element.children) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const auto document = objects::parse_xml(text);
  if (document.ok()) {
    CHECK_TRUE(!document->name.empty() && depth_of(*document) <= 16);
    CHECK_TRUE(document->at("no such child").empty() || document->at("no such child").size() <= size);
  } else {
    CHECK_TRUE(document.error().kind == ErrorKind::invalid && !document.error().message.empty());
  }
  (void)objects::parse_time(text);
  if (const auto place = objects::parse_place(text); place.ok()) {
    const auto again = objects::parse_place(place->shown());
    CHECK_TRUE(again.ok() && again->host == place->host && again->path("key") == place->path("key"));
  }
  return 0;
}
