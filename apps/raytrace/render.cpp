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
constexpr std::int64_t sampled_frames_max = 12;  // of an animation, with fewer rows each
constexpr std::int64_t animated_rows_max = 80;
constexpr std::int64_t frames_max = 100'000;
constexpr std::int64_t drawn_frames_max = 1000;  // results of one problem; a longer film is several problems
constexpr std::int64_t drawn_lines_max = 4'000'000;

class LineKernel final : public kit::Kernel {
 public:
  explicit LineKernel(std::unique_ptr<Renderer> renderer) : renderer_(std::move(renderer)) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
    if (item < 0 || item >= renderer_->items()) return Error{ErrorKind::invalid, "there is no such line"};
    return renderer_->line(item, context);
  }

 private:
  std::unique_ptr<Renderer> renderer_;
};

void read_animation(Settings& settings, kit::Parameters& parameters) {
  Animation& animation = settings.animation;
  animation.frames = parameters.integer("frames", {1, frames_max}, 1);
  const kit::Bounds<std::int64_t> range{0, animation.frames - 1};
  animation.first = parameters.integer("first_frame", range, 0);
  animation.last = parameters.integer("last_frame", range, range.high);
  animation.orbit = parameters.number("orbit", {-36'000, 36'000}, 0.0);
  animation.frame_milliseconds = parameters.integer("frame_milliseconds", {1, 60'000}, 40);
  if (animation.first > animation.last) {
    parameters.mistake("last_frame", "must not be below first_frame");
    animation.last = animation.first;
  }
  if (animation.drawn() > drawn_frames_max || animation.drawn() * settings.picture.height > drawn_lines_max) {
    parameters.mistake("last_frame",
                       "a problem draws at most 1000 frames and 4000000 lines: make several, by "
                       "first_frame and last_frame");
    animation.last = animation.first;
  }
  if (animation.frames > 1) return;
  for (const char* key : {"orbit", "frame_milliseconds"}) {
    if (parameters.has(key)) parameters.mistake(key, "is for an animation: set frames");
  }
}

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
  read_animation(settings, parameters);
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
  if (settings.animation.frames > 1 && settings.animation.orbit == 0 && scene->path.empty()) {
    return Error{ErrorKind::invalid,
                 "frames: the scene has no path for its camera: set orbit, or draw one frame"};
  }
  TRY_ASSIGN(const std::vector<Camera> cameras, cameras_of(*scene, settings.animation));
  return std::make_unique<Renderer>(std::move(scene).value(), settings.picture, search, settings.animation,
                                    cameras);
}

Renderer::Renderer(Scene scene, Picture picture, Search search, const Animation& animation,
                   const std::vector<Camera>& cameras)
    : scene_(std::move(scene)),
      picture_(picture),
      animation_(animation),
      cameras_(cameras),
      tracer_(scene_, picture_, search, cameras_) {}

Bytes Renderer::line(std::int64_t item, kit::ItemContext& context) const {
  // What is saved is the line so far; one pixel does not depend on another.
  Bytes bytes = context.restored().value_or(Bytes());
  if (bytes.size() % 3 != 0 || bytes.size() > static_cast<std::size_t>(3 * picture_.width)) bytes.clear();
  bytes.reserve(static_cast<std::size_t>(3 * picture_.width));
  context.offer_checkpoint([&bytes] { return bytes; });
  for (auto column = static_cast<std::int64_t>(bytes.size() / 3); column < picture_.width; ++column) {
    context.progress(static_cast<double>(column) / static_cast<double>(picture_.width));
    if (context.abandoned()) return {};
    bytes += pixel(item, column);
  }
  return bytes;
}

Bytes Renderer::pixel(std::int64_t item, std::int64_t column) const {
  Work work;
  const auto frame = static_cast<std::size_t>(item / picture_.height);
  const Vector colour = tracer_.pixel(column, item % picture_.height, work, frame) * scene_.exposure;
  Bytes bytes;
  for (const double component : {colour.x, colour.y, colour.z})
    bytes.push_back(static_cast<char>(to_byte(component)));
  return bytes;
}

std::vector<kit::ItemHint> Renderer::estimate_costs() const {
  const std::int64_t drawn = animation_.drawn();
  const std::int64_t frames = std::min(drawn, sampled_frames_max);
  const std::int64_t rows = std::min(picture_.height, drawn > 1 ? animated_rows_max : sampled_rows_max);
  const std::int64_t columns = std::min(picture_.width, sampled_columns);
  std::vector<Work> sampled(static_cast<std::size_t>(frames * rows));
  const Tracer tracer(scene_, picture_, Search::tree, cameras_);
  for (std::int64_t i = 0; i < frames * rows; ++i) {
    const std::int64_t row = (2 * (i % rows) + 1) * picture_.height / (2 * rows);
    const auto frame = static_cast<std::size_t>((2 * (i / rows) + 1) * drawn / (2 * frames));
    for (std::int64_t j = 0; j < columns; ++j) {
      // Each row looks between the columns of the one above.
      const std::int64_t column = ((4 * j + 1 + 2 * (i % 2)) * picture_.width) / (4 * columns);
      const int index = static_cast<int>((i + j) % picture_.samples);
      static_cast<void>(tracer.sample(std::min(column, picture_.width - 1), row, index,
                                      sampled[static_cast<std::size_t>(i)], frame));
    }
  }
  std::vector<kit::ItemHint> hints(static_cast<std::size_t>(items()));
  double total = 0;
  for (std::size_t item = 0; item < hints.size(); ++item) {
    const auto row = static_cast<std::int64_t>(item) % picture_.height;
    const auto frame = static_cast<std::int64_t>(item) / picture_.height * frames / drawn;
    const std::int64_t here = row * rows / picture_.height;
    // The mean of three neighbours: one line's few rays are a noisy sample.
    double cost = 0;
    double rays = 0;
    for (std::int64_t i = here - 1; i <= here + 1; ++i) {
      const std::int64_t nearest = frame * rows + std::clamp<std::int64_t>(i, 0, rows - 1);
      const Work& work = sampled[static_cast<std::size_t>(nearest)];
      cost += work.cost();
      rays += static_cast<double>(work.rays);
    }
    hints[item].cost = cost;
    hints[item].parameters = {static_cast<std::int64_t>(cost / 3), static_cast<std::int64_t>(rays / 3)};
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
