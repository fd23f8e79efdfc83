// Files of tensors: what is written can be read, what is wrong is named.
#include "npy.h"

#include <cstring>
#include <gmock/gmock.h>

#include "command_runner.h"
#include "npy_header.h"

#include "hone/support/rng.h"

namespace hone::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Npy : public CommandTest {
 protected:
  /// A file of the given version around a dict and elements.
  std::string file(int version, const std::string& dict, std::string_view elements) const {
    std::string bytes = "\x93NUMPY";
    bytes += {static_cast<char>(version), '\0'};
    for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) bytes += static_cast<char>(dict.size() >> 8 * byte);
    write("file.npy", bytes + dict + std::string(elements));
    return "file.npy";
  }
  Result<Tensor> read_back(ElementType wanted = ElementType::Undefined) const {
    return read_npy(path("file.npy"), wanted);
  }
  void expect_error(ElementType wanted, std::initializer_list<const char*> parts) const {
    const auto found = read_back(wanted);
    ASSERT_FALSE(found) << *parts.begin();
    EXPECT_THAT(found.error().message, HasSubstr("file.npy'"));
    for (const char* part : parts) EXPECT_THAT(found.error().message, HasSubstr(part));
  }
  void expect_error(std::initializer_list<const char*> parts) const { expect_error(ElementType::Undefined, parts); }
};

/// Random bytes that are elements of the type.
Tensor random_elements(ElementType type, const Shape& shape, Rng& rng) {
  Tensor tensor = *Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<std::byte>(rng.next());
  const auto each = [&](auto change) {
    for (std::int8_t& element : tensor.as<std::int8_t>()) element = static_cast<std::int8_t>(change(element));
  };
  if (type == ElementType::Bool || type == ElementType::U2)
    each([&](int e) { return e & (type == ElementType::U2 ? 3 : 1); });
  if (type == ElementType::U4 || type == ElementType::F4E2M1) each([](int e) { return e & 15; });
  if (type == ElementType::F6E2M3 || type == ElementType::F6E3M2) each([](int e) { return e & 63; });
  if (type == ElementType::I4) each([](int e) { return (e & 15) - 8; });
  if (type == ElementType::I2) each([](int e) { return (e & 3) - 2; });
  return tensor;
}

TEST_F(Npy, KeepsTensorsOfEveryTypeAndShape) {
  Rng rng(/*seed=*/1);
  for (std::int64_t number = 1; number <= 28; ++number) {
    const auto type = runtime::element_type_numbered(number);
    if (!type || *type == ElementType::String) continue;
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{2, 0, 3}, Shape{3, 5}, Shape{1, 2, 3, 1, 2}}) {
      const Tensor tensor = random_elements(*type, shape, rng);
      ASSERT_TRUE(write_npy(path("file.npy"), tensor));
      const auto found = read_back(*type);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(runtime::describe(found->type(), found->shape()), runtime::describe(*type, shape));
      EXPECT_TRUE(tensor.bytes() == 0 || std::memcmp(found->data(), tensor.data(), tensor.bytes()) == 0)
          << runtime::describe(*type, shape);
    }
  }
}

TEST_F(Npy, KeepsStrings) {
  const std::vector<std::string> texts = {"", "a", "größer", "鋼 steel", "𝄞", "three words here"};
  ASSERT_TRUE(write_npy(path("file.npy"), Tensor::of_strings({2, 3}, texts)));
  const auto found = read_back();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->shape(), (Shape{2, 3}));
  EXPECT_EQ(std::vector<std::string>(found->strings().begin(), found->strings().end()), texts);
  const auto wrong = write_npy(path("file.npy"), Tensor::of_strings({1}, {"\xFF"}));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("UTF-8"));
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  ASSERT_TRUE(write_npy(path("file.npy"), Tensor::of<float>({1, 2}, {1, -2})));
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  dict.append(128 - 10 - 1 - dict.size(), ' ');
  EXPECT_EQ(read("file.npy"), std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dict + "\n" +
                                  std::string("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8));
}

TEST_F(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    file(version, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }\n", "\x01\xFF\x03");
    const auto found = read_back();
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_THAT(*found->to_ints(), ElementsAre(1, -1, 3));
  }
}

TEST_F(Npy, TurnsBigEndianNumbersAround) {
  file(1, "{'shape': (2,), 'fortran_order': False, 'descr': '>i2'}", std::string("\x01\x02\xFF\xFE", 4));
  EXPECT_THAT(*read_back()->to_ints(), ElementsAre(258, -2));
  file(1, "{'shape': (1,), 'fortran_order': False, 'descr': '>c8'}", std::string("\x3F\x80\0\0\x40\0\0\0", 8));
  const auto complex = read_back();
  ASSERT_TRUE(complex);
  EXPECT_EQ(std::memcmp(complex->data(), "\0\0\x80\x3F\0\0\0\x40", 8), 0);
  file(1, "{'shape': (), 'fortran_order': False, 'descr': '>U2'}", std::string("\0\0\0a\0\0\0\xE9", 8));
  EXPECT_EQ(read_back()->strings()[0], "aé");
}

TEST_F(Npy, TurnsFortranOrderAround) {
  file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", std::string("\0\3\1\4\2\5", 6));
  EXPECT_THAT(*read_back()->to_ints(), ElementsAre(0, 1, 2, 3, 4, 5));
  file(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 2), }", std::string("\0\2\1\3", 4));
  EXPECT_THAT(*read_back()->to_ints(), ElementsAre(0, 1, 2, 3));
  file(1, "{'descr': '|S1', 'fortran_order': True, 'shape': (2, 2), }", "acbd");
  const auto letters = read_back();
  EXPECT_THAT(std::vector<std::string>(letters->strings().begin(), letters->strings().end()),
              ElementsAre("a", "b", "c", "d"));
}

TEST_F(Npy, TakesBitsForTypesThatTheFormatCannotName) {
  const std::string dict = "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }";
  file(1, dict, std::string("\x80\x3F", 2));
  EXPECT_THAT(*read_back(ElementType::BF16)->to_doubles(), ElementsAre(1));
  expect_error(ElementType::F32, {"2 raw bytes", "bfloat16"});
  file(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }", "\x0F\x07");
  EXPECT_THAT(*read_back(ElementType::I4)->to_ints(), ElementsAre(-1, 7));
  EXPECT_THAT(*read_back(ElementType::U4)->to_ints(), ElementsAre(15, 7));
}

TEST_F(Npy, NamesElementsOutsideTheirType) {
  file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x02");
  expect_error({"element 1", "bool", "is 2", "0..1"});
  file(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", "\x01\x08");
  expect_error(ElementType::I4, {"element 1", "int4", "is 8", "-8..7"});
  file(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", std::string("\0\xD8\0\0", 4));
  expect_error({"element 0", "0xd800"});
}

TEST_F(Npy, NamesWhatIsWrongWithAFile) {
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  write("file.npy", "");
  expect_error({"not a .npy file", "0 bytes"});
  write("file.npy", "PK\3\4 something else");
  expect_error({"not a .npy file"});
  write("file.npy", "\x93NUMPY\x01");
  expect_error({"7 bytes", "inside the header"});
  write("file.npy", std::string("\x93NUMPY\x01\x00\xFF\x00{'descr'", 18));
  expect_error({"inside the header", "265"});
  file(1, dict, "1234567");
  expect_error({"7 bytes", "2 elements of 4 bytes", "[2]"});
  file(1, dict, "123456789");
  expect_error({"9 bytes", "2 elements"});
  file(4, dict, "12345678");
  expect_error({"version 4.0", "1.0, 2.0 and 3.0"});
}

TEST_F(Npy, NamesWhatIsWrongWithADict) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected '{'"},
      {"[]", "expected '{'"},
      {"{'descr': '<f4', 'fortran_order': False}", "'shape' is missing"},
      {"{'descr': '<f4', 'shape': (2,)}", "'fortran_order' is missing"},
      {"{'fortran_order': False, 'shape': (2,)}", "'descr' is missing"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "'descr'"},
      {"{'colour': 'red'}", "'colour' is unknown"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "'x' after the dict"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "expected 'False'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", "expected '('"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "0 or more before '-2"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "an extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "expected ')'"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,), }", "'<f4, '"},
      {"{'descr': <f4, 'fortran_order': False, 'shape': (2,), }", "in quotes before '<f4"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "'|O', allowed are"},
      {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,), }", "'<M8[ns]', allowed are"},
      {"{'descr': '<U0', 'fortran_order': False, 'shape': (2,), }", "'<U0', allowed are"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "records"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,), }", "kind 'f' with 16 bytes"},
      {"{'descr': '<i3', 'fortran_order': False, 'shape': (2,), }", "kind 'i' with 3 bytes"},
  };
  for (const auto& [dict, part] : cases) {
    file(1, dict, "12345678");
    expect_error({part});
  }
  file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "12345678");
  ASSERT_FALSE(read_back());
  file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000000000,), }", "12345678");
  expect_error({"4000000000000000000 elements of 4 bytes"});
}

TEST_F(Npy, SurvivesRandomChanges) {
  Rng rng(/*seed=*/2);
  ASSERT_TRUE(write_npy(path("file.npy"), random_elements(ElementType::F32, {3, 4}, rng)));
  const std::string whole = read("file.npy");
  for (int round = 0; round < 500; ++round) {
    std::string changed =
        whole.substr(0, static_cast<std::size_t>(rng.uniform(0, static_cast<std::int64_t>(whole.size()))));
    for (int change = 0; change < 3 && !changed.empty(); ++change) rng.choose(changed) = static_cast<char>(rng.next());
    write("file.npy", rng.chance(0.5) ? changed : changed + whole.substr(changed.size()));
    const auto found = read_back();
    EXPECT_THAT(found ? "file.npy'" : found.error().message, HasSubstr("file.npy'"));
  }
}

}  // namespace
}  // namespace hone::command
