// A new application from a template: real files, one directory a language, in which @NAME@ stands for the
// application's name. Errors: invalid (the name), not_found (no templates where they should be), conflict
// (the directory is there already), io.
#pragma once

#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::local {

// What --language takes.
[[nodiscard]] const std::vector<std::string>& languages();

// As a manifest wants it, and fit for a CMake project and a file.
[[nodiscard]] Status check_application_name(const std::string& name);

// Makes the directory `into`. `templates` has a directory for each language. Returns the files' names.
[[nodiscard]] Result<std::vector<std::string>> make_application(io::Files& files, const io::Path& templates,
                                                                const std::string& language,
                                                                const std::string& name,
                                                                const io::Path& into);

}  // namespace gleaner::local
