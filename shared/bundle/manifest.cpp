#include "shared/bundle/manifest.h"

#include <algorithm>
#include <regex>

#include "shared/base/capability.h"
#include "shared/base/clean_text.h"
#include "shared/base/limits.h"
#include "shared/io/settings.h"

namespace gleaner::bundle {
namespace {

constexpr std::int64_t manifest_format = 1;
constexpr int text_length_max = 200;  // of titles and meanings: they are shown on one line
constexpr std::size_t expression_length_max = 1000;
constexpr std::size_t shown_max = 63;                          // of a wrong value
constexpr std::int64_t megabytes_max = std::int64_t{1} << 20;  // one TiB
constexpr std::size_t wrap_words_max = 64;
constexpr std::size_t versions_max = 64;  // that a version continues: more than anybody mends
constexpr std::int64_t threads_max = 1024;
constexpr double item_seconds_min = 1;
constexpr double item_seconds_max = 1e7;  // four months

Error expected(const std::string& what, const std::string& got) {
  return {ErrorKind::invalid, "expected " + what + ", got \"" + clean_line(got, shown_max) + "\""};
}

bool consists_of(const std::string& text, const char* more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view(more).find(c) != std::string::npos;
  });
}

Status check_name(const std::string& text) {
  if (text.empty() || text.size() > limits::name_length_max || !consists_of(text, "-") || text.front() == '-')
    return expected("a name of a-z, 0-9 and '-', at most 64", text);
  return {};
}

// Part of file names, so no '/' and no leading dot.
Status check_version(const std::string& text) {
  const bool first_is_digit = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (!first_is_digit || text.size() > limits::name_length_max ||
      !consists_of(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ.+-"))
    return expected(
        "a version that begins with a digit and has only letters, digits, '.', '+' and '-', for example "
        "\"1.0.0\"",
        text);
  return {};
}

Status check_text(const std::string& text) {
  if (text.size() > text_length_max || !is_clean(text))
    return expected(
        "one line of at most " + std::to_string(text_length_max) + " bytes without invisible characters",
        text);
  return {};
}

// Relative, inside the bundle, and spelled in the one way that archives have it.
Status check_path(const std::string& text) {
  const auto bad = expected("a path inside the bundle, for example \"bin/kernel\"", text);
  if (text.empty() || text.size() > 1024 || text.front() == '/' || text.back() == '/') return bad;
  for (const char c : text)
    if (c < 0x20 || c > 0x7e || c == '\\') return bad;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string component = text.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return bad;
    begin = end + 1;
  }
  return {};
}

Status check_optional_path(const std::string& text) {
  return text.empty() ? Status{} : check_path(text);
}

Status check_platform(const std::string& text) {
  if (text.empty() || text.size() > limits::name_length_max || !consists_of(text, "_-"))
    return expected("a platform, for example x86_64-linux or any", text);
  return {};
}

Status check_comparison(const std::string& text) {
  if (text != "exact" && text != "manager") return expected("\"exact\" or \"manager\"", text);
  return {};
}

Status check_checks(const std::string& text) {
  if (text != "form" && text != "some" && text != "all")
    return expected("\"form\", \"some\" or \"all\"", text);
  return {};
}

// The ending of a result's name, on a line of a file.
Status check_suffix(const std::string& text) {
  if (text.size() > limits::name_length_max || !consists_of(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-"))
    return expected("an ending of letters, digits, '.', '_' and '-', for example \".gz\"", text);
  return {};
}

Status check_parameter_name(const std::string& text) {
  if (text.size() > limits::name_length_max) return expected("a parameter's name", text.substr(0, 60));
  return check_text(text);
}

// Names of columns, and expressions as the manager of a wrapped program reads them.
Status check_numbers(const Manifest& manifest) {
  if (!manifest.wrap_numbers.empty() && !manifest.wrap_rows)
    return Error{ErrorKind::invalid, "are columns of a table: they need rows = true"};
  if (manifest.wrap_numbers.size() > wrap_words_max)
    return Error{ErrorKind::invalid, "at most " + std::to_string(wrap_words_max)};
  for (const auto& [name, expression] : manifest.wrap_numbers) {
    TRY(check_parameter_name(name));
    if (expression.size() > expression_length_max)
      return Error{ErrorKind::invalid,
                   "at most " + std::to_string(expression_length_max) + " bytes for " + name};
    try {
      const std::regex read(expression);
    } catch (const std::regex_error&) {
      return expected("a regular expression (ECMAScript) for " + name, expression);
    }
  }
  return {};
}

Status check_ignored(const std::vector<std::string>& rules) {
  constexpr std::string_view lines = "lines=";
  if (rules.size() > wrap_words_max)
    return Error{ErrorKind::invalid, "at most " + std::to_string(wrap_words_max)};
  for (const std::string& rule : rules) {
    if (rule == "png" || rule == "gzip" || rule == "tar") continue;
    if (!rule.starts_with(lines) || rule.size() > expression_length_max)
      return expected("\"png\", \"gzip\", \"tar\" or \"lines=EXPRESSION\"", rule);
    try {
      const std::regex read(rule.substr(lines.size()));
    } catch (const std::regex_error&) {
      return expected("a regular expression (ECMAScript) after lines=", rule);
    }
  }
  return {};
}

// The program is the bundle's own, so that the signature covers it.
Status check_wrap(const Manifest& manifest) {
  if (!manifest.kernels.empty() || !manifest.manager.empty())
    return Error{ErrorKind::invalid, "goes without [kernel] and [manager]: Gleaner brings them"};
  if (manifest.wrap.size() > wrap_words_max)
    return Error{ErrorKind::invalid, "at most " + std::to_string(wrap_words_max) + " words"};
  for (const std::string& word : manifest.wrap)
    if (!check_text(word).ok()) return check_text(word);
  return check_path(manifest.wrap.front());
}

Status check_view_kind(const std::string& text) {
  for (const char* known : {"quilt", "rows", "heat", "tour", "tiles", "cells"})
    if (text == known) return {};
  return expected("\"quilt\", \"rows\", \"heat\", \"tour\", \"tiles\" or \"cells\"", text);
}

Status check_view_value(const std::string& text) {
  for (const char* known : {"rgb8", "grey8", "uint16", "uint32", "uint64", "float32", "float64", "escape"})
    if (text == known) return {};
  return expected("rgb8, grey8, uint16, uint32, uint64, float32, float64 or escape", text);
}

// What a manifest must have, and what TOML's types cannot say.
Status check_whole(const Manifest& manifest, std::int64_t format, const std::string& file) {
  std::string mistakes;
  const auto mistake = [&](const std::string& key, const std::string& text) {
    mistakes += (mistakes.empty() ? "" : "\n") + clean_line(file + ": " + key + ": " + text);
  };
  if (format == 0) mistake("manifest", "missing: expected manifest = 1");
  if (format > manifest_format)
    mistake("manifest", "this program reads format 1, not " + std::to_string(format) + ": update it");
  if (manifest.name.empty()) mistake("name", "missing: expected for example name = \"raytrace\"");
  if (manifest.version.empty()) mistake("version", "missing: expected for example version = \"1.0.0\"");
  const bool wrapped = !manifest.wrap.empty();
  if (wrapped)
    if (const auto status = check_wrap(manifest); !status.ok())
      mistake("wrap.command", status.error().message);
  if (const auto status = check_numbers(manifest); !status.ok())
    mistake("wrap.numbers", status.error().message);
  if (const auto status = check_ignored(manifest.wrap_ignore); !status.ok())
    mistake("wrap.ignore", status.error().message);
  if (manifest.compatible_with.size() > versions_max)
    mistake("compatible_with", "at most " + std::to_string(versions_max) + " versions");
  for (const std::string& version : manifest.compatible_with)
    if (const auto status = check_version(version); !status.ok())
      mistake("compatible_with", status.error().message);
  if (manifest.needs.size() > static_cast<std::size_t>(limits::needs_max))
    mistake("needs", "at most " + std::to_string(limits::needs_max));
  for (const std::string& need : manifest.needs)
    if (const auto parsed = parse_need(need); !parsed.ok()) mistake("needs", parsed.error().message);
  if (!wrapped && !manifest.wrap_compare.empty())
    mistake("wrap.compare", "compares results of wrap.command, and there is none");
  if (manifest.manager.empty() && !wrapped)
    mistake("manager.program", "missing: the manager's file in the bundle");
  if (manifest.kernels.empty() && !wrapped)
    mistake("kernel", "missing: expected for example x86_64-linux = \"bin/kernel\"");
  if (manifest.kernels.size() > static_cast<std::size_t>(limits::platforms_max))
    mistake("kernel", "at most " + std::to_string(limits::platforms_max) + " platforms, not " +
                          std::to_string(manifest.kernels.size()));
  for (const auto& [platform, path] : manifest.kernels) {
    if (const auto status = check_platform(platform); !status.ok()) mistake("kernel", status.error().message);
    if (const auto status = check_path(path); !status.ok())
      mistake("kernel." + platform, status.error().message);
  }
  if (mistakes.empty()) return {};
  return Error{ErrorKind::invalid, mistakes};
}

}  // namespace

std::string Manifest::kernel_for(const std::vector<std::string>& platforms) const {
  for (const auto& platform : platforms)
    if (const auto found = kernels.find(platform); found != kernels.end()) return found->second;
  const auto any = kernels.find("any");
  return any != kernels.end() ? any->second : std::string();
}

namespace {

// What the file holds, as the types that settings have.
struct Fields {
  std::int64_t format = 0;
  std::int64_t threads = 1;
  std::int64_t memory_megabytes = 256;
  std::int64_t disk_megabytes = 64;
  std::string comparison = "exact";
  std::string checks = "form";
  std::vector<json::Value> parameters, inputs;
};

void declare_view(io::Settings& settings, ViewDeclaration& view) {
  settings.add("view.kind", &view.kind, "", check_view_kind);
  settings.add("view.value", &view.value, "", check_view_value);
  settings.add("view.rows", &view.rows, "", check_parameter_name);
  settings.add("view.rows_default", &view.rows_default, 0, limits::items_max, "");
  settings.add("view.columns", &view.columns, "", check_parameter_name);
  settings.add("view.columns_default", &view.columns_default, 0, limits::items_max, "");
  settings.add("view.columns_more", &view.columns_more, 0, limits::items_max, "");
  settings.add("view.lines", &view.lines, "", check_parameter_name);
  settings.add("view.lines_default", &view.lines_default, 0, limits::items_max, "");
  settings.add("view.tile_part", &view.tile_part, 0, limits::items_max, "");
  settings.add("view.tile_min", &view.tile_min, 1, limits::items_max, "");
  settings.add("view.tile_max", &view.tile_max, 1, limits::items_max, "");
  settings.add("view.inside", &view.inside, "", check_parameter_name);
  settings.add("view.inside_default", &view.inside_default, 0, limits::items_max, "");
  settings.add("view.skip", &view.skip, 0, limits::item_bytes_max, "");
  settings.add("view.stage", &view.stage, 0, limits::stages_max, "");
}

// A complete bundle's manifest has no [wrap]: clients that came before it do not know the section.
enum class Sections { all, complete };

void declare(io::Settings& settings, Manifest& manifest, Fields& fields, Sections which) {
  settings.add("manifest", &fields.format, 1, 1'000'000, "Format of this file.");
  settings.add("name", &manifest.name, "", check_name);
  settings.add("version", &manifest.version, "", check_version);
  settings.add("title", &manifest.title, "", check_text);
  if (which == Sections::all || !manifest.compatible_with.empty())
    settings.add("compatible_with", &manifest.compatible_with, "");
  if (which == Sections::all || !manifest.needs.empty()) settings.add("needs", &manifest.needs, "");
  settings.add("kernel", &manifest.kernels, "");
  settings.add("manager.program", &manifest.manager, "", check_path);
  settings.add("manager.keeps_inputs", &manifest.keeps_inputs, "");
  if (which == Sections::all) {
    settings.add("wrap.command", &manifest.wrap, "");
    settings.add("wrap.suffix", &manifest.wrap_suffix, "", check_suffix);
    settings.add("wrap.rows", &manifest.wrap_rows, "");
    settings.add("wrap.numbers", &manifest.wrap_numbers, "");
    settings.add("wrap.ignore", &manifest.wrap_ignore, "");
    settings.add("wrap.compare", &manifest.wrap_compare, "", check_optional_path);
  }
  settings.add("items.meaning", &manifest.item_meaning, "", check_text);
  settings.add("items.split", &manifest.split, "");
  settings.add("items.checkpoint", &manifest.checkpoint, "");
  settings.add("items.comparison", &fields.comparison, "", check_comparison);
  if (which == Sections::all || manifest.checks != Checks::form)
    settings.add("items.checks", &fields.checks, "", check_checks);
  settings.add("items.threads", &fields.threads, 0, threads_max, "");
  settings.add("limits.memory_megabytes", &fields.memory_megabytes, 1, megabytes_max, "");
  settings.add("limits.disk_megabytes", &fields.disk_megabytes, 1, megabytes_max, "");
  settings.add("limits.item_bytes", &manifest.item_bytes, 1, limits::item_bytes_max, "");
  settings.add("limits.item_seconds", &manifest.item_seconds, item_seconds_min, item_seconds_max, "");
  if (which == Sections::complete) return;
  declare_view(settings, manifest.view);
  settings.add_tables("parameter", &fields.parameters, limits::declared_parameters_max);
  settings.add_tables("input", &fields.inputs, limits::declared_inputs_max);
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, const std::string& file) {
  Manifest manifest;
  Fields fields;
  io::Settings settings;
  declare(settings, manifest, fields, Sections::all);
  TRY(settings.parse(text, file));
  TRY(check_whole(manifest, fields.format, file));
  auto form = read_form(fields.parameters, fields.inputs);
  if (!form.ok()) return form.error().within(file);
  if (!manifest.wrap.empty() && !form->parameters.empty())
    return Error{ErrorKind::invalid, file + ": parameter: a wrapped program has none"};
  manifest.form = std::make_shared<const ProblemForm>(std::move(*form));

  if (manifest.title.empty()) manifest.title = manifest.name;
  manifest.threads = static_cast<int>(fields.threads);
  manifest.memory_bytes = fields.memory_megabytes << 20;
  manifest.disk_bytes = fields.disk_megabytes << 20;
  manifest.comparison = fields.comparison == "manager" ? Comparison::manager : Comparison::exact;
  manifest.checks = fields.checks == "all"    ? Checks::all
                    : fields.checks == "some" ? Checks::some
                                              : Checks::form;
  return manifest;
}

std::string render_manifest(const Manifest& manifest) {
  Manifest copy = manifest;
  Fields fields{manifest_format,
                manifest.threads,
                manifest.memory_bytes >> 20,
                manifest.disk_bytes >> 20,
                manifest.comparison == Comparison::manager ? "manager" : "exact",
                manifest.checks == Checks::all    ? "all"
                : manifest.checks == Checks::some ? "some"
                                                  : "form",
                {},
                {}};
  io::Settings settings;
  declare(settings, copy, fields, Sections::complete);
  return settings.render();
}

}  // namespace gleaner::bundle
