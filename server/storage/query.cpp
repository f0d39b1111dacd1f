#include "server/storage/query.h"

#include "server/storage/connection.h"

namespace gleaner::storage {

Result<bool> Query::step() {
  if (bad_parameter_) return *bad_parameter_;
  return statement_.step();
}

Status Query::run() {
  if (bad_parameter_) return *bad_parameter_;
  return statement_.run();
}

Result<std::int64_t> Query::apply() {
  if (bad_parameter_) return *bad_parameter_;
  return statement_.apply();
}

Status Query::checked() const {
  if (bad_value_) return connection_.damaged("a row holds a value that this program never writes");
  return {};
}

}  // namespace gleaner::storage
