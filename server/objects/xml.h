// The XML that S3-compatible stores answer with, as a tree: elements and their texts; attributes and
// namespaces are left out. Bounded; a document type, which could name other files and entities, is refused.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::objects {

struct Element {
  std::string name;
  std::string text;
  std::vector<Element> children;

  // Of the first child of that name; empty if there is none.
  [[nodiscard]] const std::string& at(std::string_view child) const;
};

// invalid: it is no such document.
[[nodiscard]] Result<Element> parse_xml(std::string_view text);

}  // namespace gleaner::objects
