/// Programs of several stages, and checks after each step, for the tests of the primitives that move and join blocks.
#pragma once

#include <cstdint>
#include <string>

#include "hone/schedule/program.h"

namespace hone::schedule {

/// B = A · 2 + 1, C = max(B, 0), D = C + A, on n × m elements.
Program chain(std::int64_t n, std::int64_t m);
/// X sums 3 neighbours of A in each row, Y sums 3 neighbours of X in each column; Y has n × m elements.
Program blur(std::int64_t n, std::int64_t m);
/// A 3 × 3 convolution of a `channels` × n × n image, padded by 1, with `filters` outputs: blocks P (padding), C
/// (convolution with loops f, y, x, c, r, s), D (bias), R (relu).
Program convolution(std::int64_t channels, std::int64_t filters, std::int64_t n, std::int64_t stride);
/// The softmax of each row: blocks M (maximum), E (exponential), S (sum), D (quotient).
Program softmax(std::int64_t n, std::int64_t m);
/// R[i] = Σ_k A[i, k] and D[i, j] = R[i] · B[j].
Program row_sums(std::int64_t n, std::int64_t m, std::int64_t k);
/// V[i] and I[i]: the largest element of row i of A and its place.
Program argmax(std::int64_t n, std::int64_t m);

/// The program of a step that must succeed: verified, read back from its text, and compared with `naive`. After a
/// failure, which it reports, it is `naive`.
Program checked(const Program& naive, const Result<Program>& now);

/// The message of a step that must be refused.
std::string refusal(const Result<Program>& now);

/// How many statements stand in sequence at the top of the program.
std::size_t top_level_count(const Program& program);

/// Whether the text of the program contains `part`.
bool prints(const Program& program, std::string_view part);

}  // namespace hone::schedule
