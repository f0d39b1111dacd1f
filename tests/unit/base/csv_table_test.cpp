#include "shared/base/csv_table.h"

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;

namespace {

std::string mistake(const Result<CsvTable>& table) {
  return table.ok() ? "none" : table.error().message;
}

}  // namespace

TEST_CASE("a table's values are those that a spreadsheet shows") {
  const auto table =
      CsvTable::parse("\xef\xbb\xbfname,\"a, b\"\r\n\r\none,1\r\n\"two\nlines\",\"say \"\"2\"\"\"\r\n,\n");
  REQUIRE(table.ok());
  CHECK(table->columns() == std::vector<std::string>{"name", "a, b"});
  REQUIRE(table->rows() == 3);
  CHECK(table->row(0) == std::vector<std::string>{"one", "1"});
  CHECK(table->row(1) == std::vector<std::string>{"two\nlines", "say \"2\""});
  CHECK(table->row(2) == std::vector<std::string>{"", ""});
  const auto tabs = CsvTable::parse("a\tb,c\n1,5\t2");
  REQUIRE(tabs.ok());
  CHECK(tabs->row(0) == std::vector<std::string>{"1,5", "2"});
  const auto semicolons = CsvTable::parse("a;b\n1,5;2\n");
  REQUIRE(semicolons.ok());
  CHECK(semicolons->row(0) == std::vector<std::string>{"1,5", "2"});
}

TEST_CASE("what is wrong with a table is said with its line") {
  CHECK(mistake(CsvTable::parse("")) == "it is empty: the first line names the columns");
  CHECK(mistake(CsvTable::parse("a,b\n")) == "there is no row below the columns' names");
  CHECK(mistake(CsvTable::parse("a,b\n1,2\n\"x\ny\",2\n3\n")) == "line 5: 1 value, and 2 columns");
  CHECK(mistake(CsvTable::parse("a,b\n1,2,3\n")) == "line 2: 3 values, and 2 columns");
  CHECK(mistake(CsvTable::parse("a,a\n1,2\n")) == "line 1: two columns are called a");
  CHECK(mistake(CsvTable::parse("a,\n1,2\n")) == "line 1: \"\" is no name for a column");
  CHECK(mistake(CsvTable::parse("a\n\"1\n")) == "line 2: a quote that is not closed");
  CHECK(mistake(CsvTable::parse("a\n\"1\"2\n")) == "line 2: text after a closing quote");
  CHECK(mistake(CsvTable::parse(Bytes("a\n1\0\n", 5))) == "line 2: a zero byte: this is no text");
}

TEST_CASE("values that are written are read again, whatever they are") {
  Random random(7);
  const std::string characters = "ab,;\t\"\n\r '";
  for (int round = 0; round < 300; ++round) {
    const char separator = ",;\t"[round % 3];
    std::vector<std::vector<std::string>> rows;
    std::string text = std::string("c0") + separator + "c1" + separator + "c2\n";
    for (int i = 0; i < 5; ++i) {
      auto& row = rows.emplace_back();
      for (int column = 0; column < 3; ++column) {
        std::string value = column == 0 ? "x" : "";  // a line of nothing is no row
        for (auto length = random.below(6); length > 0; --length)
          value += characters[static_cast<std::size_t>(random.below(characters.size()))];
        if (column > 0) text += separator;
        append_value(text, value, separator);
        row.push_back(value);
      }
      text += '\n';
    }
    const auto table = CsvTable::parse(text);
    INFO(text);
    REQUIRE(table.ok());
    REQUIRE(table->rows() == 5);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      CHECK(table->row(row) == rows[i]);
      for (std::size_t column = 0; column < 3; ++column) CHECK(table->value(row, column) == rows[i][column]);
    }
  }
}
