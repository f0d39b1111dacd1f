#include <bit>
#include <cstring>

#include "apps/raytrace/mesh.h"
#include "apps/raytrace/mesh_numbers.h"
#include "apps/raytrace/scene.h"

namespace gleaner::raytrace {
namespace {

constexpr std::size_t header_lines_max = 1000;
constexpr std::int64_t list_length_max = 1024;
constexpr std::int64_t elements_max = 4 * primitives_max;

enum class Type { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::optional<Type> type_named(std::string_view name) {
  if (name == "char" || name == "int8") return Type::int8;
  if (name == "uchar" || name == "uint8") return Type::uint8;
  if (name == "short" || name == "int16") return Type::int16;
  if (name == "ushort" || name == "uint16") return Type::uint16;
  if (name == "int" || name == "int32") return Type::int32;
  if (name == "uint" || name == "uint32") return Type::uint32;
  if (name == "float" || name == "float32") return Type::float32;
  if (name == "double" || name == "float64") return Type::float64;
  return std::nullopt;
}

std::size_t size_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
      return 1;
    case Type::int16:
    case Type::uint16:
      return 2;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    case Type::float64:
      return 8;
  }
  return 8;
}

// The bytes are little-endian; so is every machine this runs on, which the assertion makes sure of.
static_assert(std::endian::native == std::endian::little);
template <typename T>
double load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

double decode(Type type, const char* bytes) {
  switch (type) {
    case Type::int8:
      return load<std::int8_t>(bytes);
    case Type::uint8:
      return load<std::uint8_t>(bytes);
    case Type::int16:
      return load<std::int16_t>(bytes);
    case Type::uint16:
      return load<std::uint16_t>(bytes);
    case Type::int32:
      return load<std::int32_t>(bytes);
    case Type::uint32:
      return load<std::uint32_t>(bytes);
    case Type::float32:
      return load<float>(bytes);
    case Type::float64:
      return load<double>(bytes);
  }
  return 0;
}

struct Property {
  std::string_view name;
  Type type = Type::float32;
  std::optional<Type> length_type;  // of a list
};

struct Element {
  std::string_view name;
  std::int64_t count = 0;
  std::vector<Property> properties;
};

class PlyReader {
 public:
  explicit PlyReader(std::string_view bytes) : bytes_(bytes), rest_(bytes) {}

  Result<Mesh> read() {
    TRY(read_header());
    for (const Element& element : elements_) {
      for (std::int64_t i = 0; i < element.count; ++i) TRY(read_element(element));
    }
    if (mesh_.faces.empty()) return Error{ErrorKind::invalid, "the PLY file has no faces"};
    if (!has_normals_) mesh_.normals.clear();
    return std::move(mesh_);
  }

 private:
  [[nodiscard]] Error mistake(const std::string& what) const {
    return {ErrorKind::invalid,
            "byte " + std::to_string(bytes_.size() - rest_.size()) + " of the PLY file: " + what};
  }

  std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  Status read_header() {
    if (next_line() != "ply") return mistake("a PLY file begins with a line: ply");
    bool format_known = false;
    for (std::size_t i = 0; i < header_lines_max; ++i) {
      std::string_view line = next_line();
      const std::string_view keyword = next_word(line);
      if (keyword == "end_header") {
        if (!format_known) return mistake("the header names no format");
        return {};
      }
      if (keyword == "format") {
        const std::string_view format = next_word(line);
        if (format != "ascii" && format != "binary_little_endian") {
          return mistake("only the formats ascii and binary_little_endian are read: convert the file");
        }
        binary_ = format != "ascii";
        format_known = true;
      } else if (keyword == "element") {
        TRY(read_element_line(line));
      } else if (keyword == "property") {
        TRY(read_property_line(line));
      } else if (keyword != "comment" && keyword != "obj_info") {
        return mistake("unknown header line");
      }
    }
    return mistake("the header does not end");
  }

  Status read_element_line(std::string_view line) {
    Element element;
    element.name = next_word(line);
    const auto count = to_number<std::int64_t>(next_word(line));
    if (!count || *count < 0 || *count > elements_max)
      return mistake("an element's count is wrong or too large");
    element.count = *count;
    for (const Element& other : elements_) {
      if (other.name == element.name) return mistake("an element is declared twice");
    }
    elements_.push_back(element);
    return {};
  }

  Status read_property_line(std::string_view line) {
    if (elements_.empty()) return mistake("a property before any element");
    Property property;
    std::string_view word = next_word(line);
    if (word == "list") {
      property.length_type = type_named(next_word(line));
      if (!property.length_type) return mistake("unknown type of a list's length");
      word = next_word(line);
    }
    const auto type = type_named(word);
    if (!type) return mistake("unknown type of a property");
    property.type = *type;
    property.name = next_word(line);
    elements_.back().properties.push_back(property);
    return {};
  }

  Result<double> read_value(Type type) {
    if (binary_) {
      const std::size_t size = size_of(type);
      if (rest_.size() < size) return mistake("the file is cut short");
      const double value = decode(type, rest_.data());
      rest_.remove_prefix(size);
      return value;
    }
    const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return mistake("the file is cut short");
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r\n"));
    rest_.remove_prefix(word.size());
    const auto number = to_number<double>(word);
    if (!number) return mistake("expected a number");
    return *number;
  }

  Status read_element(const Element& element) {
    const bool vertex = element.name == "vertex";
    const bool face = element.name == "face";
    if (element.properties.empty()) return mistake("an element without properties");
    double point[6] = {};
    unsigned found = 0;
    for (const Property& property : element.properties) {
      if (property.length_type) {
        const bool corners = face && (property.name == "vertex_indices" || property.name == "vertex_index");
        TRY(read_list(property, corners));
        continue;
      }
      TRY_ASSIGN(const double value, read_value(property.type));
      if (!vertex) continue;
      constexpr std::string_view names[6] = {"x", "y", "z", "nx", "ny", "nz"};
      for (unsigned i = 0; i < 6; ++i) {
        if (property.name != names[i]) continue;
        if (!coordinate(value)) return mistake("a coordinate is not a number below 1e9");
        point[i] = value;
        found |= 1U << i;
      }
    }
    if (!vertex) return {};
    if ((found & 7U) != 7U) return mistake("a vertex without x, y and z");
    has_normals_ = found == 63U;
    mesh_.points.push_back({point[0], point[1], point[2]});
    mesh_.normals.push_back({point[3], point[4], point[5]});
    return {};
  }

  Status read_list(const Property& property, bool corners) {
    TRY_ASSIGN(const double length, read_value(*property.length_type));
    if (!(length >= 0 && length <= list_length_max)) return mistake("a list's length is wrong or above 1024");
    corners_.clear();
    for (int i = 0; i < static_cast<int>(length); ++i) {
      TRY_ASSIGN(const double value, read_value(property.type));
      if (!corners) continue;
      if (!(value >= 0 && value < static_cast<double>(mesh_.points.size()))) {
        return mistake("a face names a vertex that is not there");
      }
      const auto place = static_cast<std::uint32_t>(value);
      corners_.push_back({place, has_normals_ ? static_cast<std::int32_t>(place) : -1});
    }
    if (!corners) return {};
    if (corners_.size() < 3) return mistake("a face needs three corners");
    for (std::size_t i = 2; i < corners_.size(); ++i) {
      if (mesh_.faces.size() == static_cast<std::size_t>(primitives_max)) {
        return Error{ErrorKind::too_large, "the PLY file has more than 400000 triangles"};
      }
      mesh_.faces.push_back({corners_[0], corners_[i - 1], corners_[i]});
    }
    return {};
  }

  const std::string_view bytes_;
  std::string_view rest_;
  bool binary_ = false;
  bool has_normals_ = false;
  std::vector<Element> elements_;
  std::vector<Mesh::Corner> corners_;
  Mesh mesh_;
};

}  // namespace

Result<Mesh> parse_ply(std::string_view bytes) {
  return PlyReader(bytes).read();
}

}  // namespace gleaner::raytrace
