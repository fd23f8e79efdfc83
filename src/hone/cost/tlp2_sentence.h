/// The language "tlp2" of sentences; see sentence.h.
#pragma once

#include "hone/cost/sentence.h"

namespace hone::cost {

/// A row has these columns:
///
/// | columns | what |
/// |---|---|
/// | 0 | 1: the row counts; 0: it fills up the sentence |
/// | 1–32 | the word: a primitive, or what describes the task (block, axis) |
/// | 33–46 | the loop that the row is about: extent, strides, marks that it gets, how it was split |
/// | 47–52 | the block: whether it is the main one, or before or behind that; its size |
/// | 53–60 | numbers of the step: factors, distances, limits |
/// | 61–63 | the place in a list of loops, its length, and the place of the row |
std::unique_ptr<SentenceWriter> make_tlp2_writer();

}  // namespace hone::cost
