#include "hone/frontend/import.h"

#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx-ml.pb.h>

#include "hone/graph/evaluate.h"

namespace hone::frontend {
namespace {

using graph::Graph;
using runtime::ElementType;
using runtime::Tensor;
using runtime::Value;
using testing::ElementsAre;
using testing::HasSubstr;

using Names = std::vector<std::string>;

onnx::ModelProto new_model(std::int64_t opset = 21) {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

template <typename Owner>  // a graph or a function
onnx::NodeProto& add_node(Owner& owner, const std::string& op, const Names& inputs, const Names& outputs,
                          const std::string& name = "") {
  onnx::NodeProto& node = *owner.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

onnx::ValueInfoProto float_vector(const std::string& name) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_param("n");
  return info;
}

void add_input(onnx::GraphProto& graph, const std::string& name) { *graph.add_input() = float_vector(name); }
void add_output(onnx::GraphProto& graph, const std::string& name) { *graph.add_output() = float_vector(name); }

onnx::TensorProto tensor(const std::string& name, const std::vector<float>& numbers) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(1);
  proto.add_dims(static_cast<std::int64_t>(numbers.size()));
  for (const float number : numbers) proto.add_float_data(number);
  return proto;
}

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

Result<Graph> imported(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return import_onnx(std::as_bytes(std::span(bytes)));
}

std::string message_of(const onnx::ModelProto& model) {
  const Result<Graph> graph = imported(model);
  return graph ? "no error" : graph.error().message;
}

/// Runs a model of float vectors.
std::vector<std::vector<float>> run(const onnx::ModelProto& model, const std::vector<std::vector<float>>& inputs) {
  const Result<Graph> graph = imported(model);
  EXPECT_TRUE(graph.has_value()) << graph.error().message;
  if (!graph) return {};
  std::vector<Value> values;
  for (const std::vector<float>& input : inputs)
    values.emplace_back(Tensor::of({static_cast<std::int64_t>(input.size())}, input));
  const auto outputs = graph::evaluate(*graph, values);
  EXPECT_TRUE(outputs.has_value()) << outputs.error().message;
  if (!outputs) return {};
  std::vector<std::vector<float>> numbers;
  for (const Value& output : *outputs) {
    const auto elements = output.tensor()->as<float>();
    numbers.emplace_back(elements.begin(), elements.end());
  }
  return numbers;
}

TEST(Import, KeepsNamesTypesAndMetadata) {
  onnx::ModelProto model = new_model();
  model.set_producer_name("maker");
  model.set_producer_version("1.2");
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"}, "r");
  add_output(*model.mutable_graph(), "y");
  const Result<Graph> graph = imported(model);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->metadata.at("producer"), "maker 1.2");
  EXPECT_EQ(graph->opsets.at(""), 21);
  EXPECT_EQ(graph->name_of(graph->inputs[0]), "x");
  EXPECT_EQ(to_string(graph->values[0].type), "tensor(float)[n]");
  EXPECT_EQ(graph->nodes[0].name, "r");
}

TEST(Import, SortsNodesThatStandInTheWrongOrder) {
  onnx::ModelProto model = new_model();
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "Neg", {"b"}, {"c"});
  add_node(*model.mutable_graph(), "Add", {"a", "x"}, {"b"});
  add_node(*model.mutable_graph(), "Neg", {"x"}, {"a"});
  add_output(*model.mutable_graph(), "c");
  EXPECT_THAT(run(model, {{1, 2}}), ElementsAre(ElementsAre(0, 0)));
}

TEST(Import, RefusesCyclesByName) {
  onnx::ModelProto model = new_model();
  add_node(*model.mutable_graph(), "Neg", {"b"}, {"a"}, "first");
  add_node(*model.mutable_graph(), "Neg", {"a"}, {"b"});
  add_output(*model.mutable_graph(), "b");
  EXPECT_EQ(message_of(model), "the graph has a cycle: these nodes wait for each other: Neg 'first', Neg (makes 'b')");
}

TEST(Import, InitializersAreConstantsAlsoWhenTheyAreInputs) {
  for (const bool is_input : {false, true}) {
    onnx::ModelProto model = new_model();
    add_input(*model.mutable_graph(), "x");
    if (is_input) add_input(*model.mutable_graph(), "w");
    *model.mutable_graph()->add_initializer() = tensor("w", {10, 20});
    add_node(*model.mutable_graph(), "Add", {"x", "w"}, {"y"});
    add_output(*model.mutable_graph(), "y");
    EXPECT_THAT(run(model, {{1, 2}}), ElementsAre(ElementsAre(11, 22)));
  }
}

TEST(Import, InitializersThatAreInputsMayBeOverridden) {
  onnx::ModelProto model = new_model();
  add_input(*model.mutable_graph(), "x");
  add_input(*model.mutable_graph(), "w");
  *model.mutable_graph()->add_initializer() = tensor("w", {10, 20});
  *model.mutable_graph()->add_initializer() = tensor("fixed", {1, 2});
  add_node(*model.mutable_graph(), "Sum", {"x", "w", "fixed"}, {"y"});
  add_output(*model.mutable_graph(), "y");
  const Result<Graph> graph = imported(model);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  ASSERT_EQ(graph->overridable.size(), 1U);
  EXPECT_EQ(graph->name_of(graph->overridable[0]), "w");
  EXPECT_TRUE(graph->is_constant(graph->overridable[0]));
  model.set_ir_version(3);  // where every initializer has to be an input
  EXPECT_TRUE(imported(model)->overridable.empty());
}

TEST(Import, ConstantNodesOfEveryKindBecomeConstants) {
  using Attribute = onnx::AttributeProto;
  const auto constant = [](const std::string& name, Attribute::AttributeType type,
                           const std::function<void(Attribute&)>& fill) {
    onnx::ModelProto model = new_model();
    fill(add_attribute(add_node(*model.mutable_graph(), "Constant", {}, {"c"}), name, type));
    add_output(*model.mutable_graph(), "c");
    const Result<Graph> graph = imported(model);
    EXPECT_TRUE(graph.has_value()) << graph.error().message;
    return graph ? *graph->constant_tensor(graph->outputs[0]) : Tensor();
  };
  EXPECT_THAT(
      constant("value", Attribute::TENSOR, [](Attribute& a) { *a.mutable_t() = tensor("", {1, 2}); }).as<float>(),
      ElementsAre(1, 2));
  EXPECT_THAT(constant("value_float", Attribute::FLOAT, [](Attribute& a) { a.set_f(3); }).as<float>(), ElementsAre(3));
  EXPECT_THAT(constant("value_int", Attribute::INT, [](Attribute& a) { a.set_i(-3); }).as<std::int64_t>(),
              ElementsAre(-3));
  EXPECT_THAT(constant("value_string", Attribute::STRING, [](Attribute& a) { a.set_s("s"); }).strings(),
              ElementsAre("s"));
  const Tensor floats = constant("value_floats", Attribute::FLOATS, [](Attribute& a) {
    a.add_floats(1);
    a.add_floats(2);
  });
  EXPECT_THAT(floats.as<float>(), ElementsAre(1, 2));
  EXPECT_EQ(constant("value_ints", Attribute::INTS, [](Attribute&) {}).shape(), runtime::Shape{0});
  EXPECT_THAT(constant("value_strings", Attribute::STRINGS, [](Attribute& a) { a.add_strings("t"); }).strings(),
              ElementsAre("t"));
  const Tensor sparse = constant("sparse_value", Attribute::SPARSE_TENSOR, [](Attribute& a) {
    onnx::SparseTensorProto& proto = *a.mutable_sparse_tensor();
    *proto.mutable_values() = tensor("", {5});
    proto.mutable_indices()->set_data_type(7);
    proto.mutable_indices()->add_dims(1);
    proto.mutable_indices()->add_int64_data(1);
    proto.add_dims(3);
  });
  EXPECT_THAT(sparse.as<float>(), ElementsAre(0, 5, 0));
}

/// A model whose If takes, three graphs deep, `x` of the outermost graph and `t` of the middle one.
onnx::ModelProto nested_model() {
  onnx::ModelProto model = new_model();
  onnx::GraphProto& outer = *model.mutable_graph();
  add_input(outer, "x");
  onnx::ValueInfoProto& flag = *outer.add_input();
  flag.set_name("flag");
  flag.mutable_type()->mutable_tensor_type()->set_elem_type(9);
  *outer.add_initializer() = tensor("w", {100});
  onnx::NodeProto& branch = add_node(outer, "If", {"flag"}, {"y"});
  for (const std::string side : {"then_branch", "else_branch"}) {
    onnx::GraphProto& middle = *add_attribute(branch, side, onnx::AttributeProto::GRAPH).mutable_g();
    middle.set_name(side);
    add_node(middle, side == "then_branch" ? "Add" : "Sub", {"x", "w"}, {"t"});
    onnx::NodeProto& inner_branch = add_node(middle, "If", {"flag"}, {"u"});
    for (const std::string inner_side : {"then_branch", "else_branch"}) {
      onnx::GraphProto& inner = *add_attribute(inner_branch, inner_side, onnx::AttributeProto::GRAPH).mutable_g();
      add_node(inner, "Mul", {"x", "t"}, {"v"});
      add_output(inner, "v");
    }
    add_output(middle, "u");
  }
  add_output(outer, "y");
  return model;
}

TEST(Import, SubgraphsCaptureThroughSeveralLevels) {
  const Result<Graph> graph = imported(nested_model());
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const graph::Subgraph& middle = graph->nodes[0].subgraphs.at("then_branch");
  Names captured;
  for (const graph::ValueId id : middle.captures) captured.push_back(graph->name_of(id));
  EXPECT_THAT(captured, testing::UnorderedElementsAre("x", "flag")) << "the constant is not captured but shared";
  const graph::Subgraph& inner = middle.graph->nodes[1].subgraphs.at("then_branch");
  captured.clear();
  for (const graph::ValueId id : inner.captures) captured.push_back(middle.graph->name_of(id));
  EXPECT_THAT(captured, testing::UnorderedElementsAre("x", "t"));
  for (const bool flag : {true, false}) {
    const auto outputs =
        graph::evaluate(*graph, std::vector<Value>{Tensor::of<float>({2}, {1, 2}), Tensor::scalar(flag)});
    ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
    const auto numbers = (*outputs)[0].tensor()->as<float>();
    if (flag)
      EXPECT_THAT(numbers, ElementsAre(101, 204));
    else
      EXPECT_THAT(numbers, ElementsAre(-99, -196));
  }
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name, const Names& inputs,
                                  const Names& outputs) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(name);
  function.set_domain("mine");
  function.add_opset_import()->set_version(21);
  function.add_opset_import()->set_domain("mine");
  function.mutable_opset_import(1)->set_version(1);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  return function;
}

/// Scaled(x; k = 2) = x * k, through a Constant whose value refers to the attribute; Twice(x; k) = Scaled(Scaled(x)).
onnx::ModelProto model_with_functions() {
  onnx::ModelProto model = new_model();
  model.add_opset_import()->set_domain("mine");
  model.mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto& scaled = add_function(model, "Scaled", {"x"}, {"y"});
  onnx::AttributeProto& fallback = *scaled.add_attribute_proto();
  fallback.set_name("k");
  fallback.set_type(onnx::AttributeProto::FLOAT);
  fallback.set_f(2);
  add_attribute(add_node(scaled, "Constant", {}, {"c"}), "value_float", onnx::AttributeProto::FLOAT)
      .set_ref_attr_name("k");
  add_node(scaled, "Mul", {"x", "c"}, {"y"}, "mul");
  onnx::FunctionProto& twice = add_function(model, "Twice", {"x"}, {"y", "same"});
  twice.add_attribute("k");
  onnx::NodeProto& first = add_node(twice, "Scaled", {"x"}, {"t"});
  first.set_domain("mine");
  add_attribute(first, "k", onnx::AttributeProto::FLOAT).set_ref_attr_name("k");
  add_node(twice, "Scaled", {"t"}, {"y"}).set_domain("mine");
  add_node(twice, "Identity", {"x"}, {"same"});
  return model;
}

TEST(Import, FunctionsAreInlinedWithTheirAttributes) {
  onnx::ModelProto model = model_with_functions();
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x");
  onnx::NodeProto& with = add_node(graph, "Twice", {"x"}, {"a"}, "with");
  with.set_domain("mine");
  add_attribute(with, "k", onnx::AttributeProto::FLOAT).set_f(10);
  add_node(graph, "Twice", {"a"}, {"b", "c"}, "without").set_domain("mine");
  for (const char* name : {"a", "b", "c"}) add_output(graph, name);
  EXPECT_THAT(run(model, {{1, 2}}), ElementsAre(ElementsAre(20, 40), ElementsAre(80, 160), ElementsAre(20, 40)));
  const Result<Graph> read = imported(model);
  ASSERT_TRUE(graph::verify(*read).has_value());
  EXPECT_EQ(read->nodes[0].name, "with/Scaled/mul");
}

TEST(Import, FunctionsMayPassInputsThroughAndOmitThem) {
  onnx::ModelProto model = new_model();
  onnx::FunctionProto& function = add_function(model, "F", {"x", "extra"}, {"x", "y", "y"});
  add_node(function, "Clip", {"x", "extra"}, {"y"});
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "F", {"x"}, {"a", "b", "c"}).set_domain("mine");
  for (const char* name : {"a", "b", "c"}) add_output(*model.mutable_graph(), name);
  EXPECT_THAT(run(model, {{1, -2}}), ElementsAre(ElementsAre(1, -2), ElementsAre(1, -2), ElementsAre(1, -2)));
}

TEST(Import, FunctionsThatCallThemselvesAreRefused) {
  onnx::ModelProto model = new_model();
  add_node(add_function(model, "F", {"x"}, {"y"}), "G", {"x"}, {"y"}).set_domain("mine");
  add_node(add_function(model, "G", {"x"}, {"y"}), "F", {"x"}, {"y"}).set_domain("mine");
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "F", {"x"}, {"y"}, "call").set_domain("mine");
  add_output(*model.mutable_graph(), "y");
  EXPECT_EQ(message_of(model), "F 'call' (a function): function 'F' calls itself");
}

TEST(Import, FunctionsThatGrowWithoutEndAreRefused) {
  onnx::ModelProto model = new_model();
  constexpr int kLevels = 40;  // 2 to the 40th nodes
  for (int level = 0; level < kLevels; ++level) {
    onnx::FunctionProto& function = add_function(model, fmt::format("F{}", level), {"x"}, {"y"});
    const bool is_last = level + 1 == kLevels;
    const std::string next = is_last ? "Neg" : fmt::format("F{}", level + 1);
    for (const bool second : {false, true})
      add_node(function, next, {second ? "t" : "x"}, {second ? "y" : "t"}).set_domain(is_last ? "" : "mine");
  }
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "F0", {"x"}, {"y"}).set_domain("mine");
  add_output(*model.mutable_graph(), "y");
  EXPECT_THAT(message_of(model), HasSubstr("the model's functions add more than 200000 nodes or"));
}

TEST(Import, UnsupportedThingsAreListedTogetherWithTheirNodes) {
  onnx::ModelProto model = new_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x");
  add_node(graph, "Wonder", {"x"}, {"a"}, "w1");
  add_node(graph, "Wonder", {"a"}, {"b"});
  onnx::NodeProto& relu = add_node(graph, "Relu", {"b"}, {"c"}, "r");
  add_attribute(relu, "colour", onnx::AttributeProto::INT).set_i(1);
  add_attribute(relu, "size", onnx::AttributeProto::INT).set_i(1);
  add_node(graph, "Magic", {"c"}, {"y"}, "m").set_domain("other");
  add_output(graph, "y");
  EXPECT_EQ(message_of(model),
            "the model needs what is not supported: attribute 'colour' of Relu in 'r'; attribute 'size' of Relu in "
            "'r'; operator Wonder in 'w1', the node that makes 'b'; operator other.Magic in 'm'");
  EXPECT_EQ(imported(model).error().code, ErrorCode::Unsupported);
}

TEST(Import, UnsupportedThingsAreNamedBeforeTensorsAreRead) {
  onnx::ModelProto model = new_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x");
  onnx::TensorProto& broken = *graph.add_initializer();
  broken = tensor("w", {1, 2});
  broken.set_dims(0, std::int64_t{1} << 40);
  add_node(graph, "Wonder", {"x", "w"}, {"y"}, "n");
  add_output(graph, "y");
  EXPECT_EQ(message_of(model), "the model needs what is not supported: operator Wonder in 'n'");
  graph.mutable_node(0)->set_op_type("Add");
  EXPECT_EQ(message_of(model), "initializer 'w': float[1099511627776] needs 1099511627776 numbers, found 2");
}

TEST(Import, ValuesThatLookLikeOursGetOtherNames) {
  onnx::ModelProto model = new_model();
  add_input(*model.mutable_graph(), "x");
  add_node(*model.mutable_graph(), "Neg", {"x"}, {"t~0"});
  add_node(*model.mutable_graph(), "Neg", {"t~0"}, {"y"});
  add_output(*model.mutable_graph(), "y");
  Result<Graph> graph = imported(model);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  graph->add_constant("t", Tensor::scalar(1.0F));
  EXPECT_TRUE(graph::verify(*graph).has_value());
}

TEST(Import, OptionalInputsMayBeLeftOut) {
  onnx::ModelProto model = new_model();
  add_input(*model.mutable_graph(), "x");
  onnx::TensorProto& top = *model.mutable_graph()->add_initializer();
  top.set_name("top");
  top.set_data_type(1);
  top.add_float_data(3);
  add_node(*model.mutable_graph(), "Clip", {"x", "", "top"}, {"y"});
  add_output(*model.mutable_graph(), "y");
  EXPECT_THAT(run(model, {{-7, 7}}), ElementsAre(ElementsAre(-7, 3)));
}

}  // namespace
}  // namespace hone::frontend
