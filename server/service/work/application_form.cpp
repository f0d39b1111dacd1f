#include "server/service/work/application_form.h"

namespace gleaner::service {

Status check_form(const Application& application, const json::Value& parameters,
                  const std::vector<protocol::Input>& inputs) {
  std::vector<std::string> names;
  for (const auto& input : inputs) names.push_back(input.name);
  const Status checked = bundle::check_problem(*application.manifest.form, parameters, names);
  if (checked.ok()) return {};
  const std::string name = application.row.name + "@" + application.row.version;
  return Error{ErrorKind::invalid,
               checked.error().message + " (`gleaner-admin app show " + name + "` tells what it takes)"};
}

}  // namespace gleaner::service
