// What an application says of its problems' parameters and inputs ([[parameter]] and [[input]] of its
// manifest, apps/CONTRACT.md): from it forms are made, and mistakes are told before the manager is asked. An
// application that declares no parameters takes whatever its manager takes. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/json/value.h"

namespace gleaner::bundle {

// json: any value; types that this program does not know are that, too.
enum class ParameterType : int { integer = 1, number = 2, boolean = 3, text = 4, choice = 5, json = 6 };
[[nodiscard]] const char* name_of(ParameterType type);

struct ParameterDeclaration {
  std::string name;
  ParameterType type = ParameterType::json;
  std::string meaning;               // a line for people
  std::string default_value;         // JSON text; empty: none, or the application decides
  bool required = false;             // then there is no default
  std::optional<double> low, high;   // of integers and numbers
  std::int64_t length = 0;           // of texts: bytes at most; 0: no bound
  std::vector<std::string> choices;  // of a choice
};

struct InputDeclaration {
  std::string name;
  std::string meaning;
  bool required = false;
};

struct ProblemForm {
  std::vector<ParameterDeclaration> parameters;  // in the order in which people should see them
  std::vector<InputDeclaration> inputs;          // others may be given, too
};

// From the tables of a manifest. Keys that are not known are ignored: later versions may have more. Errors:
// invalid, a line for each mistake, with the parameter's or input's name. Defaults are within the bounds.
[[nodiscard]] Result<ProblemForm> read_form(const std::vector<json::Value>& parameters,
                                            const std::vector<json::Value>& inputs);

// Is this what the form asks for? Errors: invalid with all mistakes, each with its parameter's name.
[[nodiscard]] Status check_problem(const ProblemForm& form, const json::Value& parameters,
                                   const std::vector<std::string>& inputs);

// What is wrong with a value of a parameter: "must be a whole number from 1 to 9, not 0". Empty: nothing.
[[nodiscard]] std::string mistake_in(const ParameterDeclaration& parameter, const json::Value& value);
// What a value must be: "a whole number from 1 to 9".
[[nodiscard]] std::string expected_of(const ParameterDeclaration& parameter);

}  // namespace gleaner::bundle
