#include "hone/runtime/kernels/recurrent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/runtime/kernels/recurrent_ops.h"

namespace hone::runtime {
namespace {

using recurrent::Activation;
using recurrent::Matrix;

enum class Cell { Rnn, Lstm, Gru };

/// What one direction runs with; `T` is float or double. Pointers are null where an input is absent.
template <typename T>
struct Direction {
  Cell cell;
  std::int64_t steps, batch, hidden, gates;  ///< `gates`: numbers per row, all gates together
  bool is_reverse, input_forget, linear_before_reset, quantize_hidden;
  double clip;
  Activation f, g, h;
  const T* projected;          ///< of step 0, at this direction
  std::int64_t projected_row;  ///< from one batch entry to the next
  const T *weights, *hidden_bias, *initial_hidden, *initial_cell, *peepholes;
  const std::int32_t* lengths;
  T* y;                 ///< of step 0, at this direction; null if not wanted
  std::int64_t y_step;  ///< from one step to the next
  T *last_hidden, *last_cell;
  ThreadPool* pool;
};

template <typename T>
class Steps {
 public:
  explicit Steps(const Direction<T>& direction)
      : d_(direction),
        gates_(size(d_.batch * d_.gates)),
        hidden_(size(d_.batch * d_.hidden), T{0}),
        cell_(size(d_.cell == Cell::Lstm ? d_.batch * d_.hidden : 0), T{0}),
        previous_cell_(cell_),
        next_hidden_(hidden_.size()),
        scratch_(hidden_.size()) {
    if (d_.initial_hidden) std::copy_n(d_.initial_hidden, hidden_.size(), hidden_.begin());
    if (d_.initial_cell) std::copy_n(d_.initial_cell, cell_.size(), cell_.begin());
  }

  void run() {
    for (std::int64_t n = 0; n < d_.steps; ++n) {
      const std::int64_t step = d_.is_reverse ? d_.steps - 1 - n : n;
      for (std::int64_t row = 0; row < d_.batch; ++row)
        std::copy_n(d_.projected + (step * d_.batch + row) * d_.projected_row, d_.gates, gates_of(row));
      previous_cell_ = cell_;
      if (d_.cell == Cell::Lstm) step_lstm();
      if (d_.cell == Cell::Gru) step_gru();
      if (d_.cell == Cell::Rnn) step_rnn();
      commit(step);
    }
    for (std::int64_t row = 0; row < d_.batch && d_.lengths; ++row) {
      if (d_.lengths[row] > 0) continue;  // what never started ends in zeros
      std::fill_n(row_of(hidden_, row), d_.hidden, T{0});
      if (d_.cell == Cell::Lstm) std::fill_n(row_of(cell_, row), d_.hidden, T{0});
    }
    if (d_.last_hidden) std::copy(hidden_.begin(), hidden_.end(), d_.last_hidden);
    if (d_.last_cell) std::copy(cell_.begin(), cell_.end(), d_.last_cell);
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  T* gates_of(std::int64_t row) { return gates_.data() + row * d_.gates; }
  T* gate(std::int64_t row, std::int64_t index) { return gates_of(row) + index * d_.hidden; }
  T* row_of(std::vector<T>& matrix, std::int64_t row) { return matrix.data() + row * d_.hidden; }

  /// sums += states · the weights of the gates [first, first + count).
  void add_recurrent(const T* states, std::int64_t first, std::int64_t count, T* sums, std::int64_t sum_stride) {
    recurrent::multiply_add<T>({states, d_.batch, d_.hidden, d_.hidden},
                               {d_.weights + first * d_.hidden, d_.hidden, count * d_.hidden, d_.gates},
                               {sums, d_.batch, count * d_.hidden, sum_stride}, d_.pool);
  }

  void clip(T* data, std::int64_t count) const {
    if (d_.clip == std::numeric_limits<double>::infinity()) return;
    const T limit = static_cast<T>(d_.clip);
    for (std::int64_t i = 0; i < count; ++i) data[i] = std::clamp(data[i], -limit, limit);
  }

  void activate(const Activation& activation, T* data, std::int64_t count) const {
    clip(data, count);
    recurrent::activate(activation, data, count);
  }

  /// Puts into the scratch what is left of the hidden state when each row is rounded to 8 bits between its extremes.
  void quantize_hidden() {
    for (std::int64_t row = 0; row < d_.batch; ++row) {
      const T* hidden = row_of(hidden_, row);
      T* rounded = row_of(scratch_, row);
      T low = 0, high = 0;
      for (std::int64_t k = 0; k < d_.hidden; ++k) {
        low = std::min(low, hidden[k]);
        high = std::max(high, hidden[k]);
      }
      const T scale = high > low ? (high - low) / T{255} : T{1};
      const T zero = std::nearbyint(std::clamp(-low / scale, T{0}, T{255}));
      for (std::int64_t k = 0; k < d_.hidden; ++k)
        rounded[k] = (std::clamp(std::nearbyint(hidden[k] / scale) + zero, T{0}, T{255}) - zero) * scale;
    }
  }

  void step_rnn() {
    add_recurrent(hidden_.data(), 0, 1, gates_.data(), d_.gates);
    activate(d_.f, gates_.data(), d_.batch * d_.hidden);
    std::copy(gates_.begin(), gates_.end(), next_hidden_.begin());
  }

  /// Gates i, o, f, c.
  void step_lstm() {
    const std::int64_t n = d_.hidden;
    if (d_.quantize_hidden) quantize_hidden();
    add_recurrent(d_.quantize_hidden ? scratch_.data() : hidden_.data(), 0, 4, gates_.data(), d_.gates);
    for (std::int64_t row = 0; row < d_.batch; ++row) {
      T *i = gate(row, 0), *o = gate(row, 1), *f = gate(row, 2), *c = gate(row, 3);
      T *cell = row_of(cell_, row), *hidden = row_of(next_hidden_, row);
      if (d_.peepholes)
        for (std::int64_t k = 0; k < n; ++k) {
          i[k] += d_.peepholes[k] * cell[k];
          f[k] += d_.peepholes[2 * n + k] * cell[k];
        }
      activate(d_.f, i, n);
      activate(d_.g, c, n);
      if (d_.input_forget)
        for (std::int64_t k = 0; k < n; ++k) f[k] = T{1} - i[k];
      else
        activate(d_.f, f, n);
      for (std::int64_t k = 0; k < n; ++k) cell[k] = f[k] * cell[k] + i[k] * c[k];
      if (d_.peepholes)
        for (std::int64_t k = 0; k < n; ++k) o[k] += d_.peepholes[n + k] * cell[k];
      activate(d_.f, o, n);
      std::copy_n(cell, n, hidden);
      recurrent::activate(d_.h, hidden, n);
      for (std::int64_t k = 0; k < n; ++k) hidden[k] *= o[k];
    }
  }

  /// Gates z, r, h.
  void step_gru() {
    const std::int64_t n = d_.hidden;
    add_recurrent(hidden_.data(), 0, 2, gates_.data(), d_.gates);
    for (std::int64_t row = 0; row < d_.batch; ++row) activate(d_.f, gate(row, 0), 2 * n);
    if (d_.linear_before_reset) {
      for (std::int64_t row = 0; row < d_.batch; ++row) {
        if (d_.hidden_bias)
          std::copy_n(d_.hidden_bias, n, row_of(scratch_, row));
        else
          std::fill_n(row_of(scratch_, row), n, T{0});
      }
      add_recurrent(hidden_.data(), 2, 1, scratch_.data(), n);
      for (std::int64_t row = 0; row < d_.batch; ++row) {
        const T *r = gate(row, 1), *linear = row_of(scratch_, row);
        T* h = gate(row, 2);
        for (std::int64_t k = 0; k < n; ++k) h[k] += r[k] * linear[k];
      }
    } else {
      for (std::int64_t row = 0; row < d_.batch; ++row) {
        const T *r = gate(row, 1), *hidden = row_of(hidden_, row);
        T* reset = row_of(scratch_, row);
        for (std::int64_t k = 0; k < n; ++k) reset[k] = r[k] * hidden[k];
      }
      add_recurrent(scratch_.data(), 2, 1, gate(0, 2), d_.gates);
    }
    for (std::int64_t row = 0; row < d_.batch; ++row) {
      const T *z = gate(row, 0), *hidden = row_of(hidden_, row);
      T *h = gate(row, 2), *next = row_of(next_hidden_, row);
      activate(d_.g, h, n);
      for (std::int64_t k = 0; k < n; ++k) next[k] = (T{1} - z[k]) * h[k] + z[k] * hidden[k];
    }
  }

  /// Takes the new states over where the sequence has this step; elsewhere the output is 0.
  void commit(std::int64_t step) {
    for (std::int64_t row = 0; row < d_.batch; ++row) {
      const bool is_inside = !d_.lengths || step < d_.lengths[row];
      T* y = d_.y ? d_.y + step * d_.y_step + row * d_.hidden : nullptr;
      if (is_inside) {
        std::copy_n(row_of(next_hidden_, row), d_.hidden, row_of(hidden_, row));
        if (y) std::copy_n(row_of(next_hidden_, row), d_.hidden, y);
        continue;
      }
      if (d_.cell == Cell::Lstm) std::copy_n(row_of(previous_cell_, row), d_.hidden, row_of(cell_, row));
      if (y) std::fill_n(y, d_.hidden, T{0});
    }
  }

  Direction<T> d_;
  std::vector<T> gates_, hidden_, cell_, previous_cell_, next_hidden_, scratch_;
};

Result<Cell> cell_of(const Attributes& attributes) {
  const std::string name = attributes.text("cell", "");
  if (name == "RNN") return Cell::Rnn;
  if (name == "LSTM") return Cell::Lstm;
  if (name == "GRU") return Cell::Gru;
  return error(ErrorCode::InvalidArgument, "cell '{}', allowed are RNN, LSTM and GRU", name);
}

/// The functions of all directions, one after the other; parameters go to those that take any, in order.
Result<std::vector<Activation>> activations_of(const Attributes& attributes, Cell cell, std::int64_t directions) {
  std::vector<std::string> names = attributes.texts("activations");
  const std::vector<std::string> defaults = cell == Cell::Rnn    ? std::vector<std::string>{"Tanh"}
                                            : cell == Cell::Lstm ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                                                 : std::vector<std::string>{"Sigmoid", "Tanh"};
  const std::size_t count = defaults.size() * static_cast<std::size_t>(directions);
  if (names.empty())
    for (std::int64_t n = 0; n < directions; ++n) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != count)
    return error(ErrorCode::InvalidArgument, "{} activations, allowed are {}", names.size(), count);
  const std::vector<float> alphas = attributes.reals("activation_alpha"), betas = attributes.reals("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    HONE_TRY(Activation activation, recurrent::activation_named(name));
    if (takes_alpha(activation.kind) && next_alpha < alphas.size()) activation.alpha = alphas[next_alpha++];
    if (takes_beta(activation.kind) && next_beta < betas.size()) activation.beta = betas[next_beta++];
    activations.push_back(activation);
  }
  return activations;
}

Result<void> expect_shape(const Tensor& tensor, const char* what, const Shape& shape) {
  if (tensor.shape() == shape) return {};
  return error(ErrorCode::InvalidArgument, "{} is {}, allowed is {}", what, describe(tensor.type(), tensor.shape()),
               describe(tensor.type(), shape));
}

/// Input `i`, of this type and shape, or null if it is absent.
template <typename T>
Result<const T*> optional_input(const HostCall& call, std::size_t i, const char* what, ElementType type,
                                const Shape& shape) {
  if (!call.has(i)) return static_cast<const T*>(nullptr);
  HONE_TRY(const Tensor tensor, call.tensor(i));
  if (tensor.type() != type)
    return error(ErrorCode::InvalidArgument, "{} has type {}, allowed is {}", what, name_of(tensor.type()),
                 name_of(type));
  HONE_TRY(expect_shape(tensor, what, shape));
  return tensor.as<T>().data();
}

template <typename T>
Result<void> run_typed(HostCall& call, const Tensor& projected, const Tensor& weights) {
  HONE_TRY(const Cell cell, cell_of(call.attributes));
  const std::int64_t gate_count = cell == Cell::Rnn ? 1 : cell == Cell::Lstm ? 4 : 3;
  if (projected.rank() != 3 || weights.rank() != 3 || weights.type() != projected.type())
    return error(ErrorCode::InvalidArgument, "projected inputs {} and weights {}, allowed are 3 axes and one type",
                 describe(projected.type(), projected.shape()), describe(weights.type(), weights.shape()));
  const std::int64_t steps = projected.extent(0), batch = projected.extent(1);
  const std::int64_t directions = weights.extent(0), hidden = weights.extent(1), gates = gate_count * hidden;
  const std::string direction = call.attributes.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return error(ErrorCode::InvalidArgument, "direction '{}', allowed are forward, reverse and bidirectional",
                 direction);
  if (directions != (direction == "bidirectional" ? 2 : 1))
    return error(ErrorCode::InvalidArgument, "weights for {} directions with direction '{}'", directions, direction);
  HONE_TRY(expect_shape(weights, "the recurrent weight", {directions, hidden, gates}));
  HONE_TRY(expect_shape(projected, "the projected input", {steps, batch, directions * gates}));
  HONE_TRY(const std::vector<Activation> activations, activations_of(call.attributes, cell, directions));

  const ElementType type = projected.type();
  const Shape state = {directions, batch, hidden};
  HONE_TRY(const T* bias, optional_input<T>(call, 2, "the recurrent bias", type, {directions, hidden}));
  HONE_TRY(const auto* lengths, optional_input<std::int32_t>(call, 3, "sequence_lens", ElementType::I32, {batch}));
  HONE_TRY(const T* initial_hidden, optional_input<T>(call, 4, "initial_h", type, state));
  HONE_TRY(const T* initial_cell, optional_input<T>(call, 5, "initial_c", type, state));
  HONE_TRY(const T* peepholes, optional_input<T>(call, 6, "P", type, {directions, 3 * hidden}));
  HONE_TRY(Tensor y, call.output(0, type, {steps, directions, batch, hidden}));
  HONE_TRY(Tensor last_hidden, call.output(1, type, state));
  T* last_cell = nullptr;
  if (call.wants(2)) {
    HONE_TRY(Tensor cells, call.output(2, type, state));
    last_cell = cells.as<T>().data();
  }

  const auto setup = [&](std::int64_t n) {
    const std::size_t per_direction = activations.size() / static_cast<std::size_t>(directions);
    const Activation* own = activations.data() + static_cast<std::size_t>(n) * per_direction;
    const auto at = [&](const T* base, std::int64_t each) { return base ? base + n * each : nullptr; };
    return Direction<T>{.cell = cell,
                        .steps = steps,
                        .batch = batch,
                        .hidden = hidden,
                        .gates = gates,
                        .is_reverse = direction == "reverse" || n == 1,
                        .input_forget = call.attributes.integer("input_forget", 0) != 0,
                        .linear_before_reset = call.attributes.integer("linear_before_reset", 0) != 0,
                        .quantize_hidden = call.attributes.integer("quantize_hidden", 0) != 0,
                        .clip = call.attributes.has("clip") ? static_cast<double>(call.attributes.real("clip", 0))
                                                            : std::numeric_limits<double>::infinity(),
                        .f = own[0],
                        .g = own[per_direction > 1 ? 1 : 0],
                        .h = own[per_direction - 1],
                        .projected = projected.as<T>().data() + n * gates,
                        .projected_row = directions * gates,
                        .weights = weights.as<T>().data() + n * hidden * gates,
                        .hidden_bias = at(bias, hidden),
                        .initial_hidden = at(initial_hidden, batch * hidden),
                        .initial_cell = at(initial_cell, batch * hidden),
                        .peepholes = at(peepholes, 3 * hidden),
                        .lengths = lengths,
                        .y = y.as<T>().data() + n * batch * hidden,
                        .y_step = directions * batch * hidden,
                        .last_hidden = last_hidden.as<T>().data() + n * batch * hidden,
                        .last_cell = last_cell ? last_cell + n * batch * hidden : nullptr,
                        .pool = call.pool};
  };
  std::vector<Steps<T>> all;  // made before, since the pool's bodies must not throw
  for (std::int64_t n = 0; n < directions; ++n) all.emplace_back(setup(n));
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) all[static_cast<std::size_t>(n)].run();
  };
  if (call.pool && directions > 1)
    call.pool->parallel_for(directions, run);
  else
    run(0, directions);
  return {};
}

}  // namespace

Result<void> run_recurrence(HostCall& call) {
  HONE_TRY(const Tensor projected, call.tensor(0));
  HONE_TRY(const Tensor weights, call.tensor(1));
  if (projected.type() == ElementType::F32) return run_typed<float>(call, projected, weights);
  if (projected.type() == ElementType::F64) return run_typed<double>(call, projected, weights);
  return error(ErrorCode::Unsupported, "a recurrence of {}, allowed are float and double", name_of(projected.type()));
}

}  // namespace hone::runtime
