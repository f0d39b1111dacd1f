// Tables of text: what is accepted has the same number of values in every row, and is read again
// from what is written of it.
#include "shared/base/csv_table.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = CsvTable::parse(Bytes(fuzz::text_of(data, size)));
  if (!table.ok()) {
    CHECK_TRUE(!table.error().message.empty());
    return 0;
  }
  const auto& columns = table->columns();
  CHECK_TRUE(!columns.empty() && columns.size() <= std::size_t{limits::table_columns_max} &&
             table->rows() > 0);
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) text += (i > 0 ? ",c" : "c") + std::to_string(i);
  text += '\n';
  for (std::int64_t row = 0; row < table->rows(); ++row) {
    const auto values = table->row(row);
    CHECK_TRUE(values.size() == columns.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text += ',';
      if (values.size() == 1 && values[i].empty()) text += "\"\"";  // a line of nothing is no row
      append_value(text, values[i]);
    }
    text += '\n';
  }
  const auto again = CsvTable::parse(text);
  CHECK_TRUE(again.ok() && again->rows() == table->rows());
  for (std::int64_t row = 0; row < table->rows(); ++row) CHECK_TRUE(again->row(row) == table->row(row));
  return 0;
}
