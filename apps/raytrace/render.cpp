#include "apps/raytrace/render.h"

#include "apps/kit/portable_math.h"
#include "apps/raytrace/mesh.h"
#include "apps/raytrace/scene_file.h"

namespace gleaner::raytrace {
namespace {

constexpr std::int64_t side_max = 16384;
constexpr std::int64_t line_samples_max = 4'000'000;  // rays from the eye in one line: some minutes
constexpr std::int64_t sampled_rows_max = 640;
constexpr std::int64_t sampled_columns = 28;

class LineKernel final : public kit::Kernel {
 public:
  explicit LineKernel(std::unique_ptr<Renderer> renderer) : renderer_(std::move(renderer)) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
    if (item < 0 || item >= renderer_->picture().height)
      return Error{ErrorKind::invalid, "there is no such line"};
    return renderer_->line(item, context);
  }

 private:
  std::unique_ptr<Renderer> renderer_;
};

}  // namespace

unsigned char to_byte(double linear) {
  if (!(linear > 0)) return 0;
  const double x = std::min(linear, 1e4);
  const double film = std::min(1.0, x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14));
  const double encoded = film <= 0.0031308 ? 12.92 * film : 1.055 * kit::portable_pow(film, 1 / 2.4) - 0.055;
  return static_cast<unsigned char>(encoded * 255 + 0.5);
}

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  if (parameters.has("file")) {
    settings.file = parameters.text("file", 200, std::nullopt);
    if (parameters.has("scene")) parameters.mistake("scene", "give either scene or file");
    static_cast<void>(parameters.text("scene", 200, ""));
  } else {
    settings.scene = parameters.choice("scene", {"A", "B", "C", "D"}, std::nullopt);
  }
  settings.picture.width = parameters.integer("width", {1, side_max}, 840);
  settings.picture.height = parameters.integer("height", {1, side_max}, 640);
  settings.picture.samples = static_cast<int>(parameters.integer("samples", {0, samples_max}, 0));
  settings.brute_force = parameters.boolean("brute_force", false);
  if (settings.picture.width * settings.picture.samples > line_samples_max) {
    parameters.mistake("samples",
                       "a line would take more than 4000000 rays from the eye: lower width or samples");
  }
  TRY(parameters.finish());
  return settings;
}

Result<std::unique_ptr<Renderer>> Renderer::load(const kit::Problem& problem) {
  TRY_ASSIGN(Settings settings, read_settings(problem));
  Bytes text(bundled_scene(settings.scene));
  if (!settings.file.empty()) {
    TRY_ASSIGN(text, problem.read_input(settings.file, scene_bytes_max));
  }
  const MeshSource meshes = [&](const std::string& name) { return problem.read_input(name, mesh_bytes_max); };
  auto scene = parse_scene(text, meshes);
  if (!scene.ok())
    return scene.error().within(settings.file.empty() ? "scene " + settings.scene : settings.file);
  if (settings.picture.samples == 0) settings.picture.samples = scene->samples;
  if (settings.picture.width * settings.picture.samples > line_samples_max) {
    return Error{ErrorKind::invalid,
                 "a line would take more than 4000000 rays from the eye: lower width or samples"};
  }
  const Search search = settings.brute_force ? Search::all_primitives : Search::tree;
  return std::make_unique<Renderer>(std::move(scene).value(), settings.picture, search);
}

Renderer::Renderer(Scene scene, Picture picture, Search search)
    : scene_(std::move(scene)), picture_(picture), tracer_(scene_, picture_, search) {}

Bytes Renderer::line(std::int64_t row, kit::ItemContext& context) const {
  Bytes bytes;
  bytes.reserve(static_cast<std::size_t>(3 * picture_.width));
  Work work;
  for (std::int64_t column = 0; column < picture_.width; ++column) {
    context.progress(static_cast<double>(column) / static_cast<double>(picture_.width));
    if (context.abandoned()) return {};
    const Vector colour = tracer_.pixel(column, row, work) * scene_.exposure;
    for (const double component : {colour.x, colour.y, colour.z}) {
      bytes.push_back(static_cast<char>(to_byte(component)));
    }
  }
  return bytes;
}

std::vector<kit::ItemHint> Renderer::estimate_costs() const {
  const std::int64_t rows = std::min(picture_.height, sampled_rows_max);
  const std::int64_t columns = std::min(picture_.width, sampled_columns);
  const Tracer tracer(scene_, picture_, Search::tree);
  std::vector<Work> sampled(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = (2 * i + 1) * picture_.height / (2 * rows);
    for (std::int64_t j = 0; j < columns; ++j) {
      // Each row looks between the columns of the one above.
      const std::int64_t column = ((4 * j + 1 + 2 * (i % 2)) * picture_.width) / (4 * columns);
      const int index = static_cast<int>((i + j) % picture_.samples);
      static_cast<void>(tracer.sample(std::min(column, picture_.width - 1), row, index,
                                      sampled[static_cast<std::size_t>(i)]));
    }
  }
  std::vector<kit::ItemHint> hints(static_cast<std::size_t>(picture_.height));
  double total = 0;
  for (std::size_t row = 0; row < hints.size(); ++row) {
    const auto here = static_cast<std::int64_t>(row) * rows / picture_.height;
    // The mean of three neighbours: one line's few rays are a noisy sample.
    double cost = 0;
    double rays = 0;
    for (std::int64_t i = here - 1; i <= here + 1; ++i) {
      const Work& work = sampled[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, rows - 1))];
      cost += work.cost();
      rays += static_cast<double>(work.rays);
    }
    hints[row].cost = cost;
    hints[row].parameters = {static_cast<std::int64_t>(cost / 3), static_cast<std::int64_t>(rays / 3)};
    total += cost;
  }
  for (kit::ItemHint& hint : hints) hint.cost *= static_cast<double>(hints.size()) / total;
  return hints;
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(std::unique_ptr<Renderer> renderer, Renderer::load(problem));
  return std::unique_ptr<kit::Kernel>(std::make_unique<LineKernel>(std::move(renderer)));
}

}  // namespace gleaner::raytrace
