#include "shared/bundle/problem_form.h"

#include "shared/bundle/manifest.h"
#include "shared/json/text.h"
#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::bundle;

namespace {

const std::string head =
    "manifest = 1\nname = \"a\"\nversion = \"1\"\n[kernel]\nany = \"k\"\n[manager]\nprogram = \"m\"\n";

const std::string form_text = R"(
[[parameter]]
name = "width"
type = "integer"
meaning = "pixels in a row"
default = 840
low = 1
high = 16384

[[parameter]]
name = "left"
type = "number"
low = -1.5
required = true

[[parameter]]
name = "colour"
type = "choice"
choices = ["smooth", "counts"]
default = "smooth"

[[parameter]]
name = "raw"
type = "boolean"

[[parameter]]
name = "title"
type = "text"
length = 5
default = ""

[[parameter]]
name = "scene"
type = "json"
default = {a = [1, 2]}

[[parameter]]
name = "later"
type = "vector"
unit = "cm"
limits = {least = 3, since = 2026-01-01}

[[input]]
name = "tissue"
meaning = "a layer a line"
required = true
)";

Result<Manifest> manifest_with(const std::string& text) {
  return parse_manifest(head + text, "manifest.toml");
}

std::string form_mistakes_in(const std::string& text) {
  const auto manifest = manifest_with(text);
  if (manifest.ok()) return "accepted";
  CHECK(manifest.error().kind == ErrorKind::invalid);
  return manifest.error().message;
}

std::string answer_to(const std::string& parameters, const std::vector<std::string>& inputs = {"tissue"}) {
  const auto manifest = manifest_with(form_text);
  if (!manifest.ok()) FAIL(manifest.error().message);
  const Status checked = check_problem(*manifest->form, *json::parse(parameters), inputs);
  return checked.ok() ? "good" : checked.error().message;
}

}  // namespace

TEST_CASE("A manifest says what its problems' parameters and inputs are") {
  const auto manifest = manifest_with(form_text);
  if (!manifest.ok()) FAIL(manifest.error().message);
  const auto& parameters = manifest->form->parameters;
  REQUIRE(parameters.size() == 7);
  CHECK(parameters[0].name == "width");
  CHECK(parameters[0].type == ParameterType::integer);
  CHECK(parameters[0].meaning == "pixels in a row");
  CHECK(parameters[0].default_value == "840");
  CHECK(parameters[0].low == 1);
  CHECK(parameters[0].high == 16384);
  CHECK(parameters[1].required);
  CHECK_FALSE(parameters[1].high);
  CHECK(parameters[2].choices == std::vector<std::string>{"smooth", "counts"});
  CHECK(parameters[2].default_value == "\"smooth\"");
  CHECK(parameters[4].length == 5);
  CHECK(parameters[4].default_value == "\"\"");
  CHECK(parameters[5].default_value == R"({"a":[1,2]})");
  CHECK(parameters[6].type == ParameterType::json);  // of a later version: any value
  REQUIRE(manifest->form->inputs.size() == 1);
  CHECK(manifest->form->inputs[0].meaning == "a layer a line");
}

TEST_CASE("Bundles of before declare nothing and take anything") {
  const auto manifest = manifest_with("");
  REQUIRE(manifest.ok());
  CHECK(manifest->form->parameters.empty());
  CHECK(check_problem(*manifest->form, *json::parse(R"({"whatever":[1]})"), {"x"}).ok());
}

TEST_CASE("A problem that is not what the form asks for is told its parameter") {
  CHECK(answer_to(R"({"left":0})") == "good");
  CHECK(answer_to(R"({"left":-1.5,"width":16384,"colour":"counts","raw":true,"title":"12345","scene":null,)"
                  R"("later":{"x":1}})") == "good");
  CHECK(answer_to("{}") == "left: must be given: a number of at least -1.5");
  CHECK(answer_to(R"({"left":0,"width":0})") == "width: must be a whole number from 1 to 16384, not 0");
  says(answer_to(R"({"left":0,"width":2.0})"), "width: must be a whole number");
  says(answer_to(R"({"left":0,"width":"9"})"), "not \"9\"");
  says(answer_to(R"({"left":-1.6})"), "left: must be a number of at least -1.5, not -1.6");
  says(answer_to(R"({"left":0,"colour":"red"})"),
       "colour: must be one of \"smooth\", \"counts\", not \"red\"");
  says(answer_to(R"({"left":0,"raw":1})"), "raw: must be true or false");
  says(answer_to(R"({"left":0,"title":"123456"})"), "title: must be a text of at most 5 bytes");
  says(answer_to(R"({"left":0,"widht":9})"),
       "widht: there is no such parameter; there are width, left, colour");
  says(answer_to(R"({"left":0})", {"other"}), "input tissue: must be given: a layer a line");
  // All of them at once.
  const std::string all = answer_to(R"({"width":0,"raw":1})", {});
  for (const char* part : {"width: ", "left: ", "raw: ", "input tissue: "}) says(all, part);
}

TEST_CASE("Numbers of many digits are given as their text") {
  CHECK(answer_to(R"({"left":"0.12345678901234567890123"})") == "good");
  CHECK(answer_to(R"({"left":"1e-3000"})") == "good");
  for (const char* text : {"", "x", "1x", "nan", "inf", "1e3000", " 1"})
    says(answer_to(R"({"left":")" + std::string(text) + "\"}"), "left: must be a number");
}

TEST_CASE("What an answer says of mistakes fits a message") {
  std::string many = R"({"left":0)";
  for (int i = 0; i < 500; ++i) many += ",\"p" + std::to_string(i) + "\":1";
  const std::string answer = answer_to(many + "}");
  CHECK(answer.size() <= 4096);
  says(answer, "and more");
}

TEST_CASE("Mistakes in a form are told by the name of the parameter, all of them") {
  const auto one = [](const std::string& lines) {
    return form_mistakes_in("[[parameter]]\nname = \"p\"\n" + lines);
  };
  says(form_mistakes_in("[[parameter]]\ntype = \"integer\"\n"), "parameter 1: name: missing");
  says(one(""), "parameter p: type: missing");
  says(one("type = \"integer\"\nlow = 3\nhigh = 2\n"), "parameter p: high: is below low");
  says(one("type = \"integer\"\nlow = 3\ndefault = 2\n"), "parameter p: default: must be a whole number");
  says(one("type = \"integer\"\nrequired = true\ndefault = 2\n"), "what must be given has none");
  says(one("type = \"number\"\ndefault = inf\n"), "parameter p: default");
  says(one("type = \"number\"\nlow = nan\n"), "parameter p: low: expected a number");
  says(one("type = \"choice\"\n"), "parameter p: choices: missing");
  says(one("type = \"choice\"\nchoices = [1]\n"), "choices: expected a list");
  says(one("type = \"text\"\nlength = 0\n"), "length: expected a whole number");
  says(one("type = \"text\"\nmeaning = \"a\\nb\"\n"), "meaning: expected one line");
  says(one("type = \"text\"\nmeaning = \"" + std::string(201, 'x') + "\"\n"), "at most 200 bytes");
  says(one("type = \"text\"\n[[parameter]]\nname = \"p\"\ntype = \"text\"\n"), "name: is here twice");
  says(one("type = \"text\"\n[[input]]\nmeaning = \"x\"\n"), "input 1: name: missing");
  const std::string two = one("[[parameter]]\nname = \"q\"\n");
  says(two, "parameter p: type: missing");
  says(two, "parameter q: type: missing");
  says(form_mistakes_in("parameter = 3\n"), "parameter");
  std::string many;
  for (int i = 0; i < 65; ++i)
    many += "[[parameter]]\nname = \"p" + std::to_string(i) + "\"\ntype = \"text\"\n";
  says(form_mistakes_in(many), "parameter: at most 64, not 65");
  const auto wrapped = parse_manifest(
      "manifest = 1\nname = \"a\"\nversion = \"1\"\n[wrap]\ncommand = [\"bin/x\"]\n[[parameter]]\nname = "
      "\"p\"\ntype = \"text\"\n",
      "m");
  REQUIRE_FALSE(wrapped.ok());
  says(wrapped.error().message, "a wrapped program has none");
}
