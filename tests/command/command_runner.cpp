#include "command_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include "../error/onnx_writer.h"

namespace hone::command {

namespace fs = std::filesystem;

CommandTest::CommandTest() {
  std::string name = (fs::temp_directory_path() / "hone_command_XXXXXX").string();
  if (const char* made = mkdtemp(name.data())) folder_ = made;
}

CommandTest::~CommandTest() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Outcome CommandTest::shell(const std::string& line) const {
  const std::string in_folder = "cd '" + folder_.string() + "' && ( " + line + " ) >.stdout 2>.stderr </dev/null";
  const int status = std::system(in_folder.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".stdout"), read(".stderr")};
}

Outcome CommandTest::hone(const std::string& arguments) const { return shell("'" HONE_COMMAND "' " + arguments); }

void CommandTest::write(const std::string& name, std::string_view content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string CommandTest::read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void CommandTest::write_dense() const {
  using namespace onnx_writer;
  const float weights[] = {1, -1, 2, 0, 0, 3};
  std::string raw(sizeof weights, '\0');
  std::memcpy(raw.data(), weights, sizeof weights);
  const Message shape =
      Message().message(1, Message().text(2, "batch")).message(1, Message().number(1, 3));  // dim_param, dim_value
  const Message x =
      Message().text(1, "x").message(2, Message().message(1, Message().number(1, kFloat).message(2, shape)));
  const Message y = Message().text(1, "y").message(2, Message().message(1, Message().number(1, kFloat)));
  write("dense.onnx", model(Content{.nodes = {node("MatMul", {"x", "w"}, {"p"}, "product"), node("Relu", {"p"}, {"y"})},
                                    .initializers = {tensor("w", kFloat, {3, 2}, raw)},
                                    .inputs = {x},
                                    .outputs = {y}})
                          .bytes());
}

void CommandTest::write_places() const {
  using namespace onnx_writer;
  const Message y = Message().text(1, "y").message(2, Message().message(1, Message().number(1, kInt64)));
  write("places.onnx", model(Content{.nodes = {node("NonZero", {"x"}, {"p"}), node("Neg", {"p"}, {"y"})},
                                     .inputs = {value("x", kFloat, {4})},
                                     .outputs = {y}})
                           .bytes());
}

void expect_refusal(const Outcome& outcome, std::initializer_list<std::string_view> parts) {
  EXPECT_EQ(outcome.status, 2) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  EXPECT_TRUE(outcome.errors.starts_with("hone: ")) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  for (const std::string_view part : parts)
    EXPECT_NE(outcome.errors.find(part), std::string::npos) << "no '" << part << "' in: " << outcome.errors;
}

}  // namespace hone::command
