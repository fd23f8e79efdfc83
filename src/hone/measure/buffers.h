/// Buffers: the arguments of the programs that a worker runs.
#pragma once

#include <cstdint>
#include <vector>

#include "hone/ir/stmt.h"
#include "hone/measure/trial.h"
#include "hone/runtime/buffer.h"

namespace hone::measure {

/// Memory for one parameter.
struct Buffer {
  ir::DType type;
  std::vector<std::int64_t> shape;
  std::int64_t count = 0;  ///< elements
  runtime::AlignedBytes memory;

  std::byte* data() { return memory.data(); }
  const std::byte* data() const { return memory.data(); }
  std::size_t bytes() const { return memory.size(); }
};

/// Memory for a parameter, its content undefined; aligned as the tensors of compiled models are. An error if its shape
/// is not constant, or if there is no memory.
Result<Buffer> allocate_buffer(const ir::Expr& param);

/// Sets the content as Fill says; an error if there are bytes, but not as many as the buffer has.
Result<void> fill_buffer(Buffer& buffer, const Fill& fill);
/// Sets every bit: NaN for floats, so that an element that is not written shows.
void poison_buffer(Buffer& buffer);

/// What fills an input that is not told anything (see TaskData), with a seed of its own for each place.
Fill default_fill(ir::DType type, std::size_t place);

/// The element at an index as a double.
double element(const Buffer& buffer, std::int64_t index);

/// Which parameters of a function its body stores to.
std::vector<bool> written_params(const ir::Function& function);

/// Evicts the buffer from all caches.
void flush_cache(const Buffer& buffer);

}  // namespace hone::measure
