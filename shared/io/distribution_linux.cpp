#include "shared/io/distribution.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

namespace gleaner::io {
namespace {

enum class Kin { debian, fedora, suse, arch, alpine, other };

Kin kin_of(const Path& root) {
  std::ifstream file(root / "etc/os-release");
  std::string kin;  // ID=ubuntu, ID_LIKE="debian"
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("ID=") || line.starts_with("ID_LIKE=")) kin += line + " ";
  const auto like = [&kin](const char* one) { return kin.find(one) != std::string::npos; };
  if (like("debian") || like("ubuntu")) return Kin::debian;
  if (like("fedora") || like("rhel")) return Kin::fedora;
  if (like("suse")) return Kin::suse;
  if (like("arch")) return Kin::arch;
  if (like("alpine")) return Kin::alpine;
  return Kin::other;
}

std::string command_of(Kin kin) {
  switch (kin) {
    case Kin::debian:
      return "apt install ";
    case Kin::fedora:
      return "dnf install ";
    case Kin::suse:
      return "zypper install ";
    case Kin::arch:
      return "pacman -S ";
    case Kin::alpine:
      return "apk add ";
    case Kin::other:
      break;
  }
  return "install ";
}

// A program or module whose package is called otherwise; names in the order of Kin.
struct Named {
  std::string_view what;
  std::array<const char*, 5> packages;
};
constexpr Named programs[] = {
    {"Rscript", {"r-base-core", "R-core", "R-base", "r", "R"}},
    {"R", {"r-base-core", "R-core", "R-base", "r", "R"}},
    {"node", {"nodejs", "nodejs", "nodejs", "nodejs", "nodejs"}},
    {"java",
     {"default-jre-headless", "java-headless", "java-headless", "jre-openjdk-headless",
      "openjdk21-jre-headless"}},
    {"python3", {"python3", "python3", "python3", "python", "python3"}},
};
constexpr Named modules[] = {
    {"cv2", {"opencv", "opencv", "opencv", "opencv", "opencv"}},
    {"PIL", {"pil", "pillow", "Pillow", "pillow", "pillow"}},
    {"sklearn", {"sklearn", "scikit-learn", "scikit-learn", "scikit-learn", "scikit-learn"}},
    {"yaml", {"yaml", "pyyaml", "PyYAML", "yaml", "yaml"}},
};

// Nothing: it is called as it is.
template <std::size_t Count>
const char* known(const Named (&all)[Count], std::string_view what, Kin kin) {
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [what](const Named& one) { return one.what == what; });
  if (found == std::end(all) || kin == Kin::other) return nullptr;
  return found->packages.at(static_cast<std::size_t>(kin));
}

std::string prefix_of(Kin kin) {
  if (kin == Kin::arch) return "python-";
  return kin == Kin::alpine ? "py3-" : "python3-";
}

}  // namespace

std::string install_command(const std::string& name, const Path& root) {
  const Kin kin = kin_of(root);
  const char* const package = known(programs, name, kin);
  return command_of(kin) + (package != nullptr ? package : name);
}

std::string install_python_module(std::string_view module, const Path& root) {
  const Kin kin = kin_of(root);
  const std::string_view top = module.substr(0, module.find('.'));
  std::string package(top);
  for (char& letter : package)
    letter = letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (const char* const other = known(modules, top, kin); other != nullptr) package = other;
  return command_of(kin) + prefix_of(kin) + package;
}

}  // namespace gleaner::io
