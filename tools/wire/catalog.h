// The wire's messages as data: what their field lists (shared/protocol/fields_*.h) say of each. A message
// that is added brings those that its fields refer to. One thread.
#pragma once

#include <algorithm>
#include <boost/type_index.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shared/protocol/fields_access.h"
#include "shared/protocol/fields_admin.h"
#include "shared/protocol/fields_console.h"
#include "shared/protocol/fields_relay.h"
#include "shared/protocol/fields_work.h"

namespace gleaner::wire {

enum class Form { whole, number, boolean, text, bytes, list, schema };

struct Type {
  Form form = Form::schema;
  std::string schema = {};               // its name
  std::string low = {}, high = {};       // of numbers; empty: no bound
  std::size_t length = 0;                // of a text in bytes, or of a list; 0: no bound
  std::shared_ptr<Type> each = nullptr;  // of a list
};

struct Field {
  std::string name;
  Type type;
  bool required = true;  // a reader refuses a message without it
  bool written = true;   // a writer never leaves it out
  std::string meaning;
};

struct Schema {
  std::string name;
  std::string about = {};
  std::vector<Field> fields = {};
  std::vector<std::string> names = {};  // of an enumeration, which has no fields
  std::string element = {};             // of a list, whose only field is `items`: its schema
};

template <typename T>
[[nodiscard]] std::string schema_name() {
  const std::string name = boost::typeindex::type_id<T>().pretty_name();
  return name.substr(name.rfind(':') + 1);
}

class Catalog {
 public:
  // Adds a message, an enumeration, or a list as replies are. Returns the schema's name.
  template <typename T>
  std::string add();

  [[nodiscard]] const std::vector<Schema>& schemas() const { return schemas_; }
  // REQUIRES: it was added.
  [[nodiscard]] const Schema& find(std::string_view name) const;
  // Adds a schema's name and those of what it is made of to `reached`, which has each once.
  void reach(const std::string& name, std::vector<std::string>& reached) const;

 private:
  [[nodiscard]] bool has(std::string_view name) const;
  std::size_t begin(const std::string& name, std::string about);
  template <typename T>
  [[nodiscard]] std::vector<Field> walk(bool full);

  std::vector<Schema> schemas_;
};

// The fields of a message with all optional ones there, or with none of them: a list may depend on that.
class FieldWalk {
 public:
  static constexpr bool writes = false;
  FieldWalk(Catalog& catalog, bool full) : catalog_(catalog), full_(full) {}

  template <typename T, typename Kind = protocol::codec::Plain>
  void operator()(const char* name, T& value, const Kind& kind = {}, const char* meaning = nullptr) {
    field(name, value, kind, meaning, true);
  }
  template <typename T, typename Kind = protocol::codec::Plain>
  void defaulted(const char* name, T& value, const Kind& kind = {}, const char* meaning = nullptr) {
    field(name, value, kind, meaning, false);
  }
  void require(bool, const char*) {}
  [[nodiscard]] std::vector<Field> take() { return std::move(fields_); }

 private:
  template <typename T, typename Kind>
  void field(const char* name, T& value, const Kind& kind, const char* meaning, bool required) {
    constexpr bool optional = protocol::codec::is_optional<T>;
    if constexpr (optional)
      if (full_) value.emplace();
    fields_.push_back(
        {name, type<T>(kind), required && !optional, !optional, meaning == nullptr ? "" : meaning});
  }

  template <typename T, typename Kind>
  Type type(const Kind& kind) {
    namespace codec = protocol::codec;
    if constexpr (codec::is_optional<T>) {
      return type<typename T::value_type>(kind);
    } else if constexpr (codec::is_list<T>) {
      return {.form = Form::list,
              .schema = {},
              .low = {},
              .high = {},
              .length = kind.count_max,
              .each = std::make_shared<Type>(type<typename T::value_type>(kind.each))};
    } else if constexpr (codec::is_id<T>) {
      return leaf(codec::Whole{});
    } else if constexpr (std::is_same_v<T, bool>) {
      return of(Form::boolean);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return named("Time");
    } else if constexpr (std::is_same_v<Kind, codec::Plain>) {
      return named(catalog_.add<T>());
    } else {
      return leaf(kind);
    }
  }

  [[nodiscard]] static Type of(Form form);
  [[nodiscard]] static Type named(std::string schema);
  [[nodiscard]] static Type leaf(const protocol::codec::Whole& kind);
  [[nodiscard]] static Type leaf(const protocol::codec::Number& kind);
  [[nodiscard]] static Type leaf(const protocol::codec::Text& kind);
  [[nodiscard]] static Type leaf(protocol::codec::Prose kind);
  [[nodiscard]] static Type leaf(const protocol::codec::Document& kind);
  [[nodiscard]] static Type leaf(protocol::codec::Digest kind);
  [[nodiscard]] static Type leaf(const protocol::codec::Raw& kind);

  Catalog& catalog_;
  bool full_;
  std::vector<Field> fields_;
};

template <typename T>
std::vector<Field> Catalog::walk(bool full) {
  FieldWalk walk(*this, full);
  T message{};
  protocol::codec::visit(walk, message);
  return walk.take();
}

template <typename T>
std::string Catalog::add() {
  namespace codec = protocol::codec;
  if constexpr (codec::is_list<T>) {
    using Element = typename T::value_type;
    const std::string element = add<Element>();
    if (!has(element + "List")) {
      Type each;
      each.schema = element;
      Type items;
      items.form = Form::list;
      items.length = limits::list_length_max;
      items.each = std::make_shared<Type>(each);
      const std::size_t place = begin(element + "List", codec::title<T>);
      schemas_[place].fields.push_back({"items", items, true, true, ""});
      schemas_[place].element = element;
    }
    return element + "List";
  } else {
    const std::string name = schema_name<T>();
    if (has(name)) return name;
    if constexpr (std::is_enum_v<T>) {
      const std::size_t place = begin(name, "");
      for (int i = 1; i <= codec::count_of<T>; ++i)
        schemas_[place].names.push_back(name_of(static_cast<T>(i)));
    } else {
      const char* about = codec::about<T> == nullptr ? codec::title<T> : codec::about<T>;
      const std::size_t place = begin(name, about == nullptr ? "" : about);
      auto fields = walk<T>(false);
      const auto full = walk<T>(true);
      for (auto& field : fields) {
        const bool always = std::any_of(full.begin(), full.end(),
                                        [&](const Field& other) { return other.name == field.name; });
        field.required = field.required && always;
        field.written = field.written && always;
      }
      schemas_[place].fields = std::move(fields);
    }
    return name;
  }
}

}  // namespace gleaner::wire
