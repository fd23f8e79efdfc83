/// What people read when a file is not a model, or not one that can be run; and that nothing worse happens.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "onnx_writer.h"

#include "hone/frontend/import.h"
#include "hone/support/rng.h"

namespace hone::frontend {
namespace {

namespace fs = std::filesystem;
using namespace onnx_writer;
using testing::HasSubstr;
using testing::StartsWith;

std::string message_of(const std::string& bytes) {
  const auto graph = import_onnx(std::as_bytes(std::span(bytes)));
  return graph ? "none" : graph.error().message;
}
std::string message_of(const Message& model) { return message_of(model.bytes()); }

const Message kX = value("x", kFloat, {2});
const Message kY = value("y", kFloat, {2});

/// y = x + w, where w is an initializer.
Content right_content() {
  return {.nodes = {node("Add", {"x", "w"}, {"y"}, "add")},
          .initializers = {tensor("w", kFloat, {2}, std::string(8, '\0'))},
          .inputs = {kX},
          .outputs = {kY}};
}

/// A folder of its own, removed at the end.
class OnnxFiles : public testing::Test {
 protected:
  OnnxFiles() : folder_(fs::temp_directory_path() / ("hone_onnx_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OnnxFiles() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  /// The message without the path it begins with.
  std::string message(const fs::path& file) const {
    const auto graph = import_onnx(file);
    if (graph) return "none";
    const std::string start = "'" + file.string() + "': ";
    const std::string& text = graph.error().message;
    return text.starts_with(start) ? text.substr(start.size()) : text;
  }

  fs::path folder_;
};

TEST_F(OnnxFiles, WhatIsNoModelIsRefusedInOneSentence) {
  EXPECT_EQ(message(write("right.onnx", model(right_content()).bytes())), "none");
  EXPECT_EQ(message(folder_ / "none.onnx"),
            "cannot open '" + (folder_ / "none.onnx").string() + "': No such file or directory");
  EXPECT_EQ(message(folder_), "'" + folder_.string() + "' is a directory, not a file");
  EXPECT_EQ(message(write("empty.onnx", "")), "an ONNX model is expected, but there are no bytes");
  EXPECT_THAT(message(write("text.onnx", "This is a text and not a model.\n")), StartsWith("not an ONNX model"));
  EXPECT_THAT(message(write("image.onnx", "\x89PNG\r\n\x1a\n")), StartsWith("not an ONNX model"));
  const std::string whole = model(right_content()).bytes();
  EXPECT_EQ(
      message(write("part.onnx", whole.substr(0, whole.size() - 9))),
      fmt::format("not an ONNX model, or a part of one: its {} bytes are no whole protobuf message", whole.size() - 9));
  EXPECT_THAT(message("/dev/null"), HasSubstr("is not a regular file"));
}

TEST_F(OnnxFiles, ExternalDataStaysInsideTheFolder) {
  write("w.bin", std::string(8, '\0'));
  fs::create_directories(folder_ / "inner");
  const auto with_location = [&](const std::string& location) {
    Content content = right_content();
    const Message entry = Message().text(1, "location").text(2, location);
    content.initializers = {Message().number(1, 2).number(2, kFloat).text(8, "w").message(13, entry).number(14, 1)};
    return model(content).bytes();
  };
  EXPECT_EQ(message(write("beside.onnx", with_location("w.bin"))), "none");
  EXPECT_EQ(message(write("inner/model.onnx", with_location("../w.bin"))),
            "initializer 'w': external data '../w.bin' is outside the model's folder");
  EXPECT_EQ(message(write("absolute.onnx", with_location("/etc/passwd"))),
            "initializer 'w': external data '/etc/passwd' is not a path from the model's folder");
  EXPECT_EQ(message(write("self.onnx", with_location("."))),
            "initializer 'w': '" + fs::canonical(folder_).string() + "' is a directory, not a file");
}

TEST(OnnxErrors, VersionsOutsideTheKnownOnesAreNamed) {
  const Message content = graph_of(right_content());
  EXPECT_EQ(message_of(model(content, 21, 2)), "IR version 2 is not supported, known are 3 to 14");
  EXPECT_EQ(message_of(model(content, 21, 99)), "IR version 99 is not supported, known are 3 to 14");
  EXPECT_EQ(message_of(model(content, 99)), "opset 99 of domain 'ai.onnx' is not supported, known are 1 to 28");
  EXPECT_EQ(message_of(model(content, 0)), "opset 0 of domain 'ai.onnx' is not supported, known are 1 to 28");
  EXPECT_EQ(message_of(Message().number(1, 10).message(7, content)), "the model imports no opset");
  EXPECT_EQ(message_of(Message().number(1, 10)), "not an ONNX model: it has no graph");
  EXPECT_EQ(message_of(Message().message(7, content)), "not an ONNX model: it has no ir_version");
}

TEST(OnnxErrors, WrongConnectionsAreNamed) {
  Content content = right_content();
  content.nodes = {node("Add", {"x", "v"}, {"y"}, "add")};
  EXPECT_EQ(message_of(model(content)), "Add 'add' reads 'v', which nothing computes");
  content.nodes = {node("Add", {"x", "w"}, {"z"}, "add")};
  EXPECT_EQ(message_of(model(content)), "nothing computes output 'y' of graph 'g'");
  content.nodes = {node("Add", {"x", "w"}, {"y"}), node("Neg", {"x"}, {"y"})};
  EXPECT_EQ(message_of(model(content)), "value 'y' has two sources");
  content.nodes = {node("Add", {"x", "w"}, {"y", "y"})};
  EXPECT_EQ(message_of(model(content)), "value 'y' has two sources");
  content.nodes = {node("Neg", {"w"}, {"x"}), node("Neg", {"x"}, {"y"})};
  EXPECT_EQ(message_of(model(content)), "value 'x' has two sources");
  content = right_content();
  content.inputs = {kX, kX};
  EXPECT_EQ(message_of(model(content)), "graph 'g' has two inputs named 'x'");
  content = right_content();
  content.initializers.push_back(content.initializers[0]);
  EXPECT_EQ(message_of(model(content)), "value 'w' has two sources");
}

TEST(OnnxErrors, CyclesAreNamed) {
  Content content = right_content();
  content.nodes = {node("Add", {"x", "b"}, {"a"}, "n1"), node("Neg", {"a"}, {"b"}, "n2"),
                   node("Neg", {"b"}, {"y"}, "n3")};
  EXPECT_EQ(message_of(model(content)),
            "the graph has a cycle: these nodes wait for each other: Add 'n1', Neg 'n2', Neg 'n3'");
  content.nodes = {node("Neg", {"y"}, {"y"}, "self")};
  EXPECT_EQ(message_of(model(content)), "the graph has a cycle: these nodes wait for each other: Neg 'self'");
  // through a subgraph, which reads what its own node makes
  const Message branch = graph_of({.nodes = {node("Neg", {"y"}, {"t"})}, .outputs = {value("t", kFloat, {2})}});
  Message branching = node("If", {"flag"}, {"y"}, "if");
  branching.message(5, graph_attribute("then_branch", branch)).message(5, graph_attribute("else_branch", branch));
  content.nodes = {branching};
  content.inputs = {value("flag", kBool, {})};
  EXPECT_EQ(message_of(model(content)), "the graph has a cycle: these nodes wait for each other: If 'if'");
}

TEST(OnnxErrors, HugeAndOverflowingShapesAreRefusedBeforeMemoryIsTaken) {
  const std::int64_t large = std::int64_t{1} << 40;
  Content content = right_content();
  content.inputs = {value("x", kFloat, {large, large, large})};
  EXPECT_THAT(message_of(model(content)), HasSubstr("value 'x': a tensor of shape [1099511627776, 1099511627776"));
  content.inputs = {value("x", kFloat, {-5})};
  EXPECT_EQ(message_of(model(content)), "value 'x': a tensor cannot have extent -5");
  content = right_content();
  content.initializers = {tensor("w", kFloat, {large}, "")};
  EXPECT_EQ(message_of(model(content)), "initializer 'w': float[1099511627776] needs 4398046511104 bytes, found 0");
  content.initializers = {tensor("w", kFloat, {large, large}, "")};
  EXPECT_THAT(message_of(model(content)), HasSubstr("has too many elements"));
  content.initializers = {tensor("w", kFloat, {-2}, "")};
  EXPECT_EQ(message_of(model(content)), "initializer 'w': a tensor cannot have extent -2");
  Message constant = node("Constant", {}, {"w"}, "c");
  constant.message(5, tensor_attribute("value", tensor("", kFloat, {large}, "")));
  content = right_content();
  content.initializers.clear();
  content.nodes.push_back(constant);
  EXPECT_EQ(message_of(model(content)), "Constant 'c': float[1099511627776] needs 4398046511104 bytes, found 0");
}

/// A graph of graphs: If inside If, as deep as this.
Message nested(int depth) {
  Content content{.outputs = {value("y", kFloat, {2})}};
  if (depth == 0) {
    content.nodes = {node("Neg", {"x"}, {"y"})};
  } else {
    const Message branch = nested(depth - 1);
    Message branching = node("If", {"flag"}, {"y"});
    branching.message(5, graph_attribute("then_branch", branch));
    content.nodes = {branching.message(5, graph_attribute("else_branch", graph_of({.outputs = {kX}})))};
  }
  return graph_of(content);
}

Message deep_model(int depth) {
  return model(Message(nested(depth)).message(11, kX).message(11, value("flag", kBool, {})));
}

TEST(OnnxErrors, DeepNestingIsReadToALimitAndRefusedBeyond) {
  EXPECT_EQ(message_of(deep_model(20)), "none");
  EXPECT_EQ(message_of(deep_model(100)), "graphs or types inside each other are nested too deep");
  EXPECT_THAT(message_of(deep_model(3000)), StartsWith("not an ONNX model"));
}

TEST(OnnxErrors, DeeplyNestedTypesAreRefused) {
  Message type = Message().message(1, Message().number(1, kFloat));
  for (int i = 0; i < 300; ++i) type = Message().message(4, Message().message(1, type));
  Content content = right_content();
  content.inputs.push_back(Message().text(1, "s").message(2, type));
  EXPECT_EQ(message_of(model(content)), "graphs or types inside each other are nested too deep");
}

TEST(OnnxErrors, WrongTypesAndContentsAreNamed) {
  Content content = right_content();
  content.initializers = {tensor("w", kFloat, {2}, "123")};
  EXPECT_EQ(message_of(model(content)), "initializer 'w': float[2] needs 8 bytes, found 3");
  content.initializers = {tensor("w", 99, {2}, "12345678")};
  EXPECT_EQ(message_of(model(content)), "initializer 'w': element type 99 is not supported, known are 1 to 28");
  content.initializers = {tensor("w", 0, {2}, "12345678")};
  EXPECT_EQ(message_of(model(content)), "initializer 'w': a tensor has no element type");
  content.initializers = {tensor("", kFloat, {2}, "12345678")};
  EXPECT_EQ(message_of(model(content)), "an initializer of graph 'g' has no name");
  content.initializers = {tensor("w", kInt64, {2}, std::string(16, '\0'))};
  content.inputs.clear();
  content.initializers.push_back(tensor("x", kFloat, {2}, "12345678"));
  EXPECT_EQ(message_of(model(content)),
            "Add 'add': input 1 ('B') has type int64, but another input of type T has float");
  content = right_content();
  content.inputs = {value("x", 55, {2})};
  EXPECT_EQ(message_of(model(content)), "value 'x': element type 55 is not supported, known are 1 to 28");
}

TEST(OnnxErrors, WrongCountsAndAttributesAreNamed) {
  Content content = right_content();
  content.nodes = {node("Add", {"x"}, {"y"}, "add")};
  EXPECT_EQ(message_of(model(content)), "Add 'add': 1 inputs, allowed are 2 to 2");
  content.nodes = {node("Add", {"x", ""}, {"y"}, "add")};
  EXPECT_EQ(message_of(model(content)), "Add 'add': input 1 ('B') is missing");
  content.nodes = {node("Neg", {"x"}, {"y"}, "n").message(5, int_attribute("axis", 1))};
  EXPECT_EQ(message_of(model(content)), "the model needs what is not supported: attribute 'axis' of Neg in 'n'");
  content.nodes = {
      node("Softmax", {"x"}, {"y"}, "s").message(5, int_attribute("axis", 1)).message(5, int_attribute("axis", 1))};
  EXPECT_EQ(message_of(model(content)), "Softmax 's' has two attributes named 'axis'");
  content.nodes = {node("Softmax", {"x"}, {"y"}, "s").message(5, Message().text(1, "axis"))};
  EXPECT_EQ(message_of(model(content)), "Softmax 's': attribute 'axis': it has no type and no value");
  content.nodes = {node("Constant", {}, {"y"}, "c")};
  EXPECT_EQ(message_of(model(content)),
            "Constant 'c' has 0 attributes, 0 inputs and 1 outputs, allowed are one attribute and one output");
}

/// A model with a bit of everything.
std::string rich_model() {
  Content content = right_content();
  const Message branch = graph_of({.nodes = {node("Mul", {"x", "w"}, {"t"})}, .outputs = {value("t", kFloat, {2})}});
  content.nodes.push_back(node("If", {"flag"}, {"z"}, "if")
                              .message(5, graph_attribute("then_branch", branch))
                              .message(5, graph_attribute("else_branch", branch)));
  content.nodes.push_back(
      node("Constant", {}, {"c"}).message(5, tensor_attribute("value", tensor("", kInt64, {1}, std::string(8, '\1')))));
  content.inputs.push_back(value("flag", kBool, {}));
  content.outputs.push_back(value("z", kFloat, {2}));
  Message function = Message().text(1, "F").text(4, "x").text(5, "y").text(10, "mine");
  function.message(7, node("Neg", {"x"}, {"y"})).message(9, Message().text(1, "").number(2, 21));
  content.nodes.push_back(node("F", {"z"}, {"f"}, "call").text(7, "mine"));
  return Message(model(content)).message(25, function).message(8, Message().text(1, "mine").number(2, 1)).bytes();
}

TEST(OnnxErrors, EveryBeginningOfAFileIsRefusedOrRead) {
  const std::string whole = rich_model();
  EXPECT_EQ(message_of(whole), "none");
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(message_of(whole.substr(0, size)).empty());
}

/// Imports the model with a few bytes changed, again and again.
void import_changed(const std::string& whole, int samples, Rng& rng) {
  for (int sample = 0; sample < samples; ++sample) {
    std::string changed = whole;
    for (std::int64_t count = rng.uniform(1, 4); count > 0; --count) {
      const auto at = static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(changed.size()) - 1));
      changed[at] = static_cast<char>(rng.uniform(0, 255));
    }
    const auto graph = import_onnx(std::as_bytes(std::span(changed)));
    if (graph)
      EXPECT_TRUE(graph::verify(*graph).has_value());
    else
      EXPECT_FALSE(graph.error().message.empty());
  }
}

int fewer_if_short(int samples) { return std::getenv("HONE_SHORT_TESTS") ? samples / 10 : samples; }

TEST(OnnxErrors, RandomChangesNeverCrash) {
  Rng rng(/*seed=*/1);
  import_changed(rich_model(), fewer_if_short(10'000), rng);
}

TEST(OnnxErrors, TheFuzzersModelsAreReadAndTheirChangesNeverCrash) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(HONE_SOURCE_DIR "/tests/fuzz/import_onnx"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Rng rng(/*seed=*/2);
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    // what the fuzzer found is named crash-* where it was a mistake of ours, and found-* otherwise
    const std::string name = file.filename().string();
    if (!name.starts_with("crash-") && !name.starts_with("found-") && file.stem() != "external") {
      EXPECT_EQ(message_of(whole), "none") << file;
    }
    import_changed(whole, fewer_if_short(60), rng);
  }
}

}  // namespace
}  // namespace hone::frontend
