#include "client/page/rules.h"

// The page is part of the program: no files to find, none to change.
// NOLINTBEGIN(hicpp-no-assembler): C++20 has no #embed
#define EMBED(name, file)                                                                               \
  asm(".pushsection .rodata\n" #name "_begin:\n.incbin \"" GLEANER_PAGE_DIRECTORY "/" file "\"\n" #name \
      "_end:\n.popsection\n");                                                                          \
  extern "C" const char name##_begin[];                                                                 \
  extern "C" const char name##_end[]
EMBED(gleaner_page_html, "dist/page.html");
EMBED(gleaner_page_script, "dist/page.js");
EMBED(gleaner_page_style, "dist/page.css");
// NOLINTEND(hicpp-no-assembler)

namespace gleaner::page {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page_html() {
  return between(gleaner_page_html_begin, gleaner_page_html_end);
}
std::string_view page_script() {
  return between(gleaner_page_script_begin, gleaner_page_script_end);
}
std::string_view page_style() {
  return between(gleaner_page_style_begin, gleaner_page_style_end);
}

}  // namespace gleaner::page
