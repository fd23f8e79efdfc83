/// The language "tlp2" of sentences; see sentence.h.
#pragma once

#include "hone/cost/sentence.h"

namespace hone::cost {

/// The first row is about the loops of the main block on a target, then come rows about the task and about each step. A
/// row has these columns:
///
/// | columns | what |
/// |---|---|
/// | 0 | 1: the row counts; 0: it fills up the sentence |
/// | 1–32 | the word: a primitive, or what describes the task (block, axis) or its innermost loops (tile) |
/// | 33–46 | the loop that the row is about: extent, strides, marks that it gets, how it was split |
/// | 47–52 | the block: whether it is the main one, or before or behind that; its size |
/// | 53–60 | numbers of the step: factors, distances, limits |
/// | 61–63 | the place in a list of loops, its length, and the place of the row |
/// | 64–87 | of the first row, about the innermost loops: see tile_numbers in loop_nest.h |
/// | 88–91 | of the first row, about threads: see share_numbers there |
/// | 92–96 | of the first row, about caches: see traffic_numbers there |
std::unique_ptr<SentenceWriter> make_tlp2_writer(const ComputeUnit& unit);

}  // namespace hone::cost
