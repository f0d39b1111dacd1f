#include "server/objects/xml.h"

#include <expat.h>

#include <algorithm>
#include <memory>

#include "shared/base/check.h"

namespace gleaner::objects {
namespace {

constexpr std::size_t document_bytes_max = 4 << 20;  // a listing of 1,000 has some 400 kB
constexpr std::size_t depth_max = 16;
constexpr std::size_t elements_max = 50'000;

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

struct Tree {
  XML_Parser parser = nullptr;
  Element root;
  std::vector<Element*> open;
  std::size_t elements = 0;

  void begin(const char* name) {
    if (open.size() >= depth_max || ++elements > elements_max) {
      XML_StopParser(parser, XML_FALSE);
      return;
    }
    Element& parent = *open.back();
    parent.children.push_back({name, {}, {}});
    open.push_back(&parent.children.back());  // its parent gets no other child before it is closed
  }
};

Tree& tree_of(void* self) {
  return *static_cast<Tree*>(self);
}

}  // namespace

const std::string& Element::at(std::string_view child) const {
  static const std::string nothing;
  const auto found =
      std::find_if(children.begin(), children.end(), [&](const Element& each) { return each.name == child; });
  return found == children.end() ? nothing : found->text;
}

Result<Element> parse_xml(std::string_view text) {
  if (text.size() > document_bytes_max)
    return Error{ErrorKind::invalid, "an XML document of more than 4 MiB"};
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser(XML_ParserCreate("UTF-8"));
  CHECK_TRUE(parser != nullptr);
  Tree tree;
  tree.parser = parser.get();
  tree.open.push_back(&tree.root);
  XML_SetUserData(parser.get(), &tree);
  XML_SetElementHandler(
      parser.get(), [](void* self, const char* name, const char**) { tree_of(self).begin(name); },
      [](void* self, const char*) { tree_of(self).open.pop_back(); });
  XML_SetCharacterDataHandler(parser.get(), [](void* self, const char* data, int size) {
    tree_of(self).open.back()->text.append(data, static_cast<std::size_t>(size));
  });
  XML_SetStartDoctypeDeclHandler(parser.get(), [](void* self, const char*, const char*, const char*, int) {
    XML_StopParser(tree_of(self).parser, XML_FALSE);
  });
  if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK)
    return Error{ErrorKind::invalid, std::string("no XML document as expected: ") +
                                         XML_ErrorString(XML_GetErrorCode(parser.get()))};
  return std::move(tree.root.children.front());
}

}  // namespace gleaner::objects
