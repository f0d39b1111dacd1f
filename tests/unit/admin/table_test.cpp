#include "tools/admin/table.h"

#include "tests/catch.h"

namespace gleaner::admin {

TEST_CASE("columns are as wide as their widest cell", "[table]") {
  Table table({{"NAME"}, {"ITEMS", Align::right}, {"WHY"}});
  table.add({"ray", "1,000", "so"});
  table.add({"mandelbrot", "7", "because of a long reason"});
  table.add({"c", "1", ""});
  CHECK(table.render({}) ==
        "NAME        ITEMS  WHY\n"
        "ray         1,000  so\n"
        "mandelbrot      7  because of a long reason\n"
        "c               1\n");
}

TEST_CASE("only a terminal cuts the last column, and only colours colour", "[table]") {
  Table table({{"A"}, {"REASON"}});
  table.add({"x", {"a reason that does not fit", Tint::bad}});
  Display terminal;
  terminal.terminal = true;
  terminal.columns = 20;
  CHECK(table.render(terminal) == "A  REASON\nx  a reason that d..\n");
  terminal.colour = true;
  CHECK(table.render(terminal) ==
        "\x1b[1mA\x1b[0m  \x1b[1mREASON\x1b[0m\nx  \x1b[31ma reason that d..\x1b[0m\n");
}

TEST_CASE("fields without a value are left out", "[table]") {
  CHECK(render_fields({{"state", Cell("running")}, {"message", Cell("")}, {"application", Cell("ray")}},
                      {}) == "state        running\napplication  ray\n");
}

}  // namespace gleaner::admin
