#include "hone/cost/boosted_trees.h"

#include <cmath>
#include <limits>

#include "hone/cost/byte_reader.h"
#include "hone/cost/xgboost_library.h"

namespace hone::cost {

namespace {

using Booster = std::shared_ptr<void>;

/// Sums of gradients, and with them the trees, would otherwise depend on the number of cores.
constexpr const char* kThreads = "1";

Booster own_booster(const XgboostLibrary& library, BoosterHandle handle) {
  return Booster(handle, [&library](BoosterHandle it) { library.XGBoosterFree(it); });
}

Result<Booster> make_booster(const XgboostLibrary& library, std::span<const DMatrixHandle> cached) {
  BoosterHandle handle = nullptr;
  HONE_TRY(library.check(library.XGBoosterCreate(cached.data(), cached.size(), &handle), "create"));
  return own_booster(library, handle);
}

Result<void> set_parameters(const XgboostLibrary& library, BoosterHandle booster, const TreeSettings& settings) {
  const std::pair<const char*, std::string> parameters[] = {
      {"booster", "gbtree"},
      {"tree_method", "hist"},
      {"max_bin", "64"},
      {"base_score", "0"},
      {"nthread", kThreads},
      {"max_depth", fmt::format("{}", settings.depth)},
      {"gamma", fmt::format("{}", settings.min_split_loss)},
      {"min_child_weight", fmt::format("{}", settings.min_child_weight)},
      {"eta", fmt::format("{}", settings.learning_rate)},
      {"lambda", fmt::format("{}", settings.l2)},
      {"alpha", "0"},
      {"subsample", "1"},
      {"seed", fmt::format("{}", settings.seed % std::numeric_limits<std::int32_t>::max())},
  };
  for (const auto& [name, value] : parameters)
    HONE_TRY(library.check(library.XGBoosterSetParam(booster, name, value.c_str()), name));
  return {};
}

Result<std::shared_ptr<void>> make_matrix(const XgboostLibrary& library, const Matrix& rows) {
  DMatrixHandle handle = nullptr;
  HONE_TRY(library.check(library.XGDMatrixCreateFromMat(rows.values.data(), rows.rows(), rows.columns,
                                                        std::numeric_limits<float>::quiet_NaN(), &handle),
                         "matrix"));
  return std::shared_ptr<void>(handle, [&library](DMatrixHandle it) { library.XGDMatrixFree(it); });
}

Result<void> check_rows(const Matrix& rows) {
  if (rows.columns == 0 || rows.values.empty())
    return error(ErrorCode::InvalidArgument, "boosted trees: {} rows of {} numbers; at least one of one is needed",
                 rows.rows(), rows.columns);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    if (!std::isfinite(rows.values[i]))
      return error(ErrorCode::InvalidArgument, "boosted trees: number {} of row {} is {}, not finite", i % rows.columns,
                   i / rows.columns, rows.values[i]);
  return {};
}

/// The columns that differ between rows: what all rows share costs time and tells nothing.
std::vector<std::uint32_t> varying_columns(const Matrix& rows) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t column = 0; column < rows.columns; ++column)
    for (std::size_t i = column; i < rows.values.size(); i += rows.columns)
      if (rows.values[i] != rows.values[column]) {
        columns.push_back(column);
        break;
      }
  if (columns.empty()) columns.push_back(0);
  return columns;
}

std::vector<float> take_columns(std::span<const float> values, std::size_t width,
                                std::span<const std::uint32_t> columns) {
  std::vector<float> taken;
  taken.reserve(values.size() / width * columns.size());
  for (std::size_t row = 0; row < values.size(); row += width)
    for (const std::uint32_t column : columns) taken.push_back(values[row + column]);
  return taken;
}

/// The sums of the trees for the rows they are fitted to, which the library keeps up to date.
Result<std::span<const float>> training_sums(const XgboostLibrary& library, BoosterHandle booster,
                                             DMatrixHandle matrix) {
  const char* config = R"({"type": 1, "training": true, "iteration_begin": 0, "iteration_end": 0,
                           "strict_shape": false})";
  const bst_ulong* shape = nullptr;
  bst_ulong axes = 0;
  const float* sums = nullptr;
  HONE_TRY(library.check(library.XGBoosterPredictFromDMatrix(booster, matrix, config, &shape, &axes, &sums),
                         "predict the training rows"));
  HONE_CHECK(axes == 1, "one sum a row");
  return std::span(sums, shape[0]);
}

}  // namespace

Result<BoostedTrees> BoostedTrees::fit(const Matrix& rows, const TreeSettings& settings, GradientFn gradient,
                                       LossFn loss) {
  HONE_TRY(check_rows(rows));
  HONE_TRY(const XgboostLibrary* const library, xgboost());
  BoostedTrees trees;
  trees.columns_ = rows.columns;
  trees.kept_ = varying_columns(rows);
  const Matrix kept{.columns = trees.kept_.size(), .values = take_columns(rows.values, rows.columns, trees.kept_)};
  HONE_TRY(const std::shared_ptr<void> matrix, make_matrix(*library, kept));
  const DMatrixHandle cached[] = {matrix.get()};
  HONE_TRY(const Booster booster, make_booster(*library, cached));
  HONE_TRY(set_parameters(*library, booster.get(), settings));

  std::vector<float> first(rows.rows()), second(rows.rows());
  double best_loss = std::numeric_limits<double>::infinity();
  int best_size = 0;
  for (int size = 0; size <= settings.max_rounds; ++size) {
    HONE_TRY(const std::span<const float> sums, training_sums(*library, booster.get(), matrix.get()));
    const double now = loss(sums);
    if (std::isnan(now))
      return error(ErrorCode::InvalidArgument, "boosted trees: the loss is no number after {} trees", size);
    if (!(now >= best_loss * (1 - settings.min_gain))) {
      best_loss = now;
      best_size = size;
    }
    if (size == settings.max_rounds || size - best_size >= settings.patience) break;
    gradient(sums, first, second);
    HONE_TRY(library->check(
        library->XGBoosterBoostOneIter(booster.get(), matrix.get(), first.data(), second.data(), first.size()),
        "grow a tree"));
  }

  trees.size_ = best_size;
  if (best_size == 0) return trees;
  BoosterHandle best = nullptr;
  HONE_TRY(library->check(library->XGBoosterSlice(booster.get(), 0, best_size, 1, &best), "drop trees"));
  trees.booster_ = own_booster(*library, best);
  return trees;
}

Result<std::vector<float>> BoostedTrees::predict(const Matrix& rows) const {
  if (rows.columns != columns_)
    return error(ErrorCode::InvalidArgument, "boosted trees: rows of {} numbers, they were fitted to rows of {}",
                 rows.columns, columns_);
  return predict(rows.values, rows.rows());
}

Result<std::vector<float>> BoostedTrees::predict(std::span<const float> values, std::size_t rows) const {
  HONE_CHECK(values.size() == rows * columns_, "{} numbers are not {} rows of {}", values.size(), rows, columns_);
  if (!booster_ || rows == 0) return std::vector<float>(rows, 0.0F);
  HONE_TRY(const XgboostLibrary* const library, xgboost());
  const std::vector<float> kept = take_columns(values, columns_, kept_);
  const std::string array = fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                                        reinterpret_cast<std::uintptr_t>(kept.data()), rows, kept_.size());
  const char* config = R"({"type": 1, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false,
                           "cache_id": 0, "missing": NaN})";
  const bst_ulong* shape = nullptr;
  bst_ulong axes = 0;
  const float* sums = nullptr;
  HONE_TRY(library->check(
      library->XGBoosterPredictFromDense(booster_.get(), array.c_str(), config, nullptr, &shape, &axes, &sums),
      "predict"));
  HONE_CHECK(axes == 1 && shape[0] == rows, "one sum a row");
  return std::vector<float>(sums, sums + rows);
}

Result<std::string> BoostedTrees::to_bytes() const {
  std::string bytes;
  append<std::uint64_t>(bytes, columns_);
  append<std::uint64_t>(bytes, kept_.size());
  for (const std::uint32_t column : kept_) append(bytes, column);
  if (!booster_) return bytes;
  HONE_TRY(const XgboostLibrary* const library, xgboost());
  bst_ulong size = 0;
  const char* model = nullptr;
  HONE_TRY(library->check(library->XGBoosterSaveModelToBuffer(booster_.get(), R"({"format": "ubj"})", &size, &model),
                          "save"));
  return bytes.append(model, size);
}

Result<BoostedTrees> BoostedTrees::from_bytes(std::string_view bytes) {
  BoostedTrees trees;
  ByteReader reader(bytes);
  HONE_TRY(trees.columns_, reader.number<std::uint64_t>());
  HONE_TRY(const std::uint64_t kept, reader.number<std::uint64_t>());
  for (std::uint64_t i = 0; i < kept; ++i) {
    HONE_TRY(const std::uint32_t column, reader.number<std::uint32_t>());
    if (column >= trees.columns_)
      return error(ErrorCode::ParseError, "boosted trees: they read column {} of {}", column, trees.columns_);
    trees.kept_.push_back(column);
  }
  if (reader.at_end()) return trees;
  const std::string_view model = reader.rest();
  HONE_TRY(const XgboostLibrary* const library, xgboost());
  HONE_TRY(trees.booster_, make_booster(*library, {}));
  HONE_TRY(
      library->check(library->XGBoosterLoadModelFromBuffer(trees.booster_.get(), model.data(), model.size()), "load"));
  HONE_TRY(library->check(library->XGBoosterSetParam(trees.booster_.get(), "nthread", kThreads), "nthread"));
  HONE_TRY(library->check(library->XGBoosterBoostedRounds(trees.booster_.get(), &trees.size_), "count trees"));
  bst_ulong features = 0;
  HONE_TRY(library->check(library->XGBoosterGetNumFeature(trees.booster_.get(), &features), "count columns"));
  if (features != kept)
    return error(ErrorCode::ParseError, "boosted trees: {} columns are announced, the trees read {}", kept, features);
  return trees;
}

}  // namespace hone::cost
