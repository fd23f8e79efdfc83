/// Runs the real `hone` in a folder of its own, and shows what it printed.
#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "hone/session.h"

namespace hone::command {

/// What a run left behind.
struct Outcome {
  int status = -1;
  std::string output, errors;
};

/// A test with an empty folder for its files.
class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  /// Runs `hone ARGUMENTS`, as a shell takes them apart, in the folder.
  Outcome hone(const std::string& arguments) const;
  /// Runs any command line there.
  Outcome shell(const std::string& line) const;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;

  /// dense.onnx: y = max(x · w, 0) with x of shape [batch, 3] and w = [[1, -1], [2, 0], [0, 3]].
  void write_dense() const;
  /// places.onnx: where the elements of x, a vector of 4, are not zero, negated: a shape that depends on content.
  void write_places() const;

 private:
  std::filesystem::path folder_;
};

/// Expects exit code 2, nothing on the standard output, and one line on the other, with all these parts.
void expect_refusal(const Outcome& outcome, std::initializer_list<std::string_view> parts);

}  // namespace hone::command
