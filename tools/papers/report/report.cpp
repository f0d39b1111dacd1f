#include "tools/papers/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/check.h"
#include "tools/papers/report/plot.h"

namespace gleaner::simulator {
namespace {

std::string number(const std::optional<double>& value, int digits, const char* absent) {
  return value ? fmt::format("{:.{}f}", *value, digits) : absent;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv(const ReportTable& table) {
  std::string text;
  for (const std::string& column : table.key_columns) text += csv_field(column) + ',';
  text += "published,ours,verdict,why\n";
  for (const ReportRow& row : table.rows) {
    for (const std::string& key : row.keys) text += csv_field(key) + ',';
    text += fmt::format("{},{},{},{}\n", row.published ? fmt::format("{}", *row.published) : "",
                        number(row.ours, table.digits + 2, ""), name_of(row.verdict), csv_field(row.why));
  }
  return text;
}

std::string markdown(const ReportTable& table) {
  std::string text = fmt::format("### {}\n\n**{}**: {}\n\n|", table.title, name_of(table.verdict), table.why);
  for (const std::string& column : table.key_columns) text += fmt::format(" {} |", column);
  text += " published | ours | verdict | why |\n|";
  for (std::size_t i = 0; i < table.key_columns.size(); ++i) text += "---|";
  text += "---:|---:|---|---|\n";
  for (const ReportRow& row : table.rows) {
    text += '|';
    for (const std::string& key : row.keys) text += fmt::format(" {} |", key);
    text += fmt::format(" {} | {} | {} | {} |\n", number(row.published, table.digits, "–"),
                        number(row.ours, table.digits, "–"), name_of(row.verdict), row.why);
  }
  return text + '\n';
}

std::string markdown(const ReportSection& section) {
  std::string text = fmt::format("## {}\n\n{}\n\n", section.title, section.introduction);
  for (const ReportTable& table : section.tables) text += markdown(table);
  for (const ReportPlot& plot : section.plots) {
    text += fmt::format("![{}]({}_{}.svg)\n\n", plot.title, section.name, plot.name);
  }
  for (const std::string& note : section.notes) text += fmt::format("- {}\n", note);
  return section.notes.empty() ? text : text + '\n';
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::ordering_reproduced:
      return "ordering reproduced";
    case Verdict::not_reproduced:
      return "not reproduced";
    case Verdict::reported:
      return "reported";
  }
  return "unknown";
}

Status write_section(const ReportSection& section, const io::Path& directory) {
  io::Files& files = io::real_files();
  TRY(files.make_directories(directory));
  for (const ReportTable& table : section.tables) {
    for (const ReportRow& row : table.rows) {
      CHECK_TRUE(row.keys.size() == table.key_columns.size());
      CHECK_TRUE(row.verdict == Verdict::reproduced || !row.why.empty());
    }
    const io::Path path = directory / fmt::format("{}_{}.csv", section.name, table.name);
    TRY(files.write(path, csv(table), io::Mode::normal));
  }
  for (const ReportPlot& plot : section.plots) {
    TRY(write_plot(plot, directory, fmt::format("{}_{}", section.name, plot.name)));
  }
  return files.write(directory / (section.name + ".md"), markdown(section), io::Mode::normal);
}

}  // namespace gleaner::simulator
