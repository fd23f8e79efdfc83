#include "hone/frontend/tensor_proto.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx-ml.pb.h>
#include <unistd.h>

#include "hone/support/subprocess.h"

namespace hone::frontend {
namespace {

namespace fs = std::filesystem;
using runtime::ElementType;
using runtime::Shape;
using runtime::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

onnx::TensorProto proto_of(ElementType type, const Shape& shape) {
  onnx::TensorProto proto;
  proto.set_data_type(static_cast<int>(type));
  for (const std::int64_t extent : shape) proto.add_dims(extent);
  return proto;
}

Tensor decoded(const onnx::TensorProto& proto) {
  Result<Tensor> tensor = TensorDecoder().decode(proto);
  EXPECT_TRUE(tensor.has_value()) << tensor.error().message;
  return tensor ? *tensor : Tensor();
}

std::string message_of(const onnx::TensorProto& proto) {
  const Result<Tensor> tensor = TensorDecoder().decode(proto);
  return tensor ? "no error" : tensor.error().message;
}

std::vector<std::uint8_t> bytes_of(const Tensor& tensor) {
  std::vector<std::uint8_t> bytes(tensor.bytes());
  std::memcpy(bytes.data(), tensor.data(), bytes.size());
  return bytes;
}

TEST(TensorProto, TypedFieldsAndRawDataGiveTheSameTensor) {
  const std::vector<std::int64_t> numbers = {0, 1, 2, 100, 127};
  for (int number = 1; number <= static_cast<int>(ElementType::F6E3M2); ++number) {
    const auto type = static_cast<ElementType>(number);
    onnx::TensorProto typed = proto_of(type, {5}), raw = typed;
    std::string bytes;
    const auto append = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
    for (const std::int64_t value : numbers) {
      switch (runtime::bytes_of(type)) {
        case 1:
          append(static_cast<std::uint8_t>(value));
          typed.add_int32_data(static_cast<std::int32_t>(value));
          break;
        case 2:
          append(static_cast<std::uint16_t>(value));
          typed.add_int32_data(static_cast<std::int32_t>(value));
          break;
        case 4:
          if (type == ElementType::F32)
            append(static_cast<float>(value)), typed.add_float_data(static_cast<float>(value));
          if (type == ElementType::I32)
            append(static_cast<std::int32_t>(value)), typed.add_int32_data(static_cast<std::int32_t>(value));
          if (type == ElementType::U32)
            append(static_cast<std::uint32_t>(value)), typed.add_uint64_data(static_cast<std::uint64_t>(value));
          break;
        case 8:
          if (type == ElementType::F64)
            append(static_cast<double>(value)), typed.add_double_data(static_cast<double>(value));
          if (type == ElementType::I64) append(value), typed.add_int64_data(value);
          if (type == ElementType::U64) append(value), typed.add_uint64_data(static_cast<std::uint64_t>(value));
          if (type == ElementType::C64)
            for (int part = 0; part < 2; ++part)
              append(static_cast<float>(value)), typed.add_float_data(static_cast<float>(value));
          break;
        case 16:
          for (int part = 0; part < 2; ++part)
            append(static_cast<double>(value)), typed.add_double_data(static_cast<double>(value));
          break;
        default:
          break;
      }
    }
    if (type == ElementType::String ||
        (runtime::is_storage_only(type) && type >= ElementType::U4 && type != ElementType::F8E8M0))
      continue;
    raw.set_raw_data(bytes);
    EXPECT_EQ(bytes_of(decoded(typed)), bytes_of(decoded(raw))) << runtime::name_of(type);
    EXPECT_EQ(decoded(raw).type(), type);
  }
}

TEST(TensorProto, IntegersKeepTheirSign) {
  onnx::TensorProto proto = proto_of(ElementType::I8, {2});
  proto.add_int32_data(-1);
  proto.add_int32_data(-128);
  EXPECT_THAT(*decoded(proto).to_ints(), ElementsAre(-1, -128));
  proto.set_data_type(static_cast<int>(ElementType::I16));
  EXPECT_THAT(*decoded(proto).to_ints(), ElementsAre(-1, -128));
}

TEST(TensorProto, ElementsBelowEightBitsAreUnpackedLowestBitsFirst) {
  onnx::TensorProto proto = proto_of(ElementType::I4, {3});
  proto.set_raw_data(std::string("\x8f\x07", 2));  // -1, -8, 7
  EXPECT_THAT(*decoded(proto).to_ints(), ElementsAre(-1, -8, 7));
  proto.set_data_type(static_cast<int>(ElementType::U4));
  EXPECT_THAT(*decoded(proto).to_ints(), ElementsAre(15, 8, 7));
  proto.set_data_type(static_cast<int>(ElementType::F4E2M1));
  EXPECT_THAT(bytes_of(decoded(proto)), ElementsAre(15, 8, 7));

  onnx::TensorProto two_bits = proto_of(ElementType::I2, {5});
  two_bits.set_raw_data(std::string("\x1b\x02", 2));  // 11 10 01 00, 10
  EXPECT_THAT(*decoded(two_bits).to_ints(), ElementsAre(-1, -2, 1, 0, -2));
  two_bits.set_data_type(static_cast<int>(ElementType::U2));
  EXPECT_THAT(*decoded(two_bits).to_ints(), ElementsAre(3, 2, 1, 0, 2));

  onnx::TensorProto six_bits = proto_of(ElementType::F6E2M3, {5});
  // 1, 2, 3, 63 | 32: byte0 = x0 | x1 << 6, byte1 = x1 >> 2 | x2 << 4, byte2 = x2 >> 4 | x3 << 2
  six_bits.set_raw_data(std::string("\x81\x30\xfc\x20", 4));
  EXPECT_THAT(bytes_of(decoded(six_bits)), ElementsAre(1, 2, 3, 63, 32));
}

TEST(TensorProto, NumbersOfTypedFieldsHoldSeveralSmallElements) {
  onnx::TensorProto proto = proto_of(ElementType::I4, {3});
  proto.add_int32_data(0x8f);
  proto.add_int32_data(0x07);
  EXPECT_THAT(*decoded(proto).to_ints(), ElementsAre(-1, -8, 7));
  onnx::TensorProto six_bits = proto_of(ElementType::F6E3M2, {2});
  six_bits.add_int32_data(63);
  six_bits.add_int32_data(1);
  EXPECT_THAT(bytes_of(decoded(six_bits)), ElementsAre(63, 1));
}

TEST(TensorProto, AnyByteButZeroIsTrue) {
  onnx::TensorProto proto = proto_of(ElementType::Bool, {3});
  proto.set_raw_data(std::string("\x00\x01\xff", 3));
  EXPECT_THAT(bytes_of(decoded(proto)), ElementsAre(0, 1, 1));
  onnx::TensorProto typed = proto_of(ElementType::Bool, {2});
  typed.add_int32_data(256);
  typed.add_int32_data(0);
  EXPECT_THAT(bytes_of(decoded(typed)), ElementsAre(1, 0));
}

TEST(TensorProto, ScalarsEmptyTensorsAndStringsAreRead) {
  onnx::TensorProto scalar = proto_of(ElementType::F32, {});
  scalar.add_float_data(2.5F);
  EXPECT_EQ(decoded(scalar).as<float>()[0], 2.5F);
  EXPECT_EQ(decoded(proto_of(ElementType::F32, {3, 0})).size(), 0);
  onnx::TensorProto strings = proto_of(ElementType::String, {2});
  strings.add_string_data("a");
  strings.add_string_data(std::string("b\0c", 3));
  EXPECT_THAT(decoded(strings).strings(), ElementsAre("a", std::string("b\0c", 3)));
}

TEST(TensorProto, RawDataWithoutBytesLeavesTheTypedField) {
  onnx::TensorProto proto = proto_of(ElementType::F32, {2});
  proto.set_raw_data("");
  proto.add_float_data(1);
  proto.add_float_data(2);
  EXPECT_THAT(decoded(proto).as<float>(), ElementsAre(1, 2));
  proto.clear_float_data();
  EXPECT_EQ(message_of(proto), "float[2] needs 8 bytes, found 0");
  onnx::TensorProto text = proto_of(ElementType::String, {1});
  text.set_raw_data("");
  text.add_string_data("a");
  EXPECT_EQ(decoded(text).strings()[0], "a");
}

TEST(TensorProto, ContentThatDoesNotFitTheShapeIsRefused) {
  onnx::TensorProto proto = proto_of(ElementType::F32, {2, 3});
  proto.set_raw_data("1234");
  EXPECT_EQ(message_of(proto), "float[2, 3] needs 24 bytes, found 4");
  onnx::TensorProto typed = proto_of(ElementType::I64, {2});
  typed.add_int64_data(1);
  EXPECT_EQ(message_of(typed), "int64[2] needs 2 numbers, found 1");
  EXPECT_EQ(message_of(proto_of(ElementType::String, {1})), "string[1] needs 1 strings, found 0");
  EXPECT_EQ(message_of(proto_of(ElementType::I8, {-1})), "a tensor cannot have extent -1");
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(message_of(proto_of(ElementType::I8, {large, large})),
            "a tensor of shape [1099511627776, 1099511627776] has too many elements");
  EXPECT_THAT(message_of(proto_of(ElementType::I8, {large * 4096})), HasSubstr("has too many elements"));
  EXPECT_EQ(message_of(proto_of(ElementType::I8, {large})), "int8[1099511627776] needs 1099511627776 numbers, found 0");
  EXPECT_EQ(message_of(proto_of(ElementType::Undefined, {})), "a tensor has no element type");
  EXPECT_EQ(message_of(proto_of(static_cast<ElementType>(77), {})),
            "element type 77 is not supported, known are 1 to 28");
}

onnx::SparseTensorProto sparse(const Shape& shape, const std::vector<std::int64_t>& places, bool is_flat) {
  onnx::SparseTensorProto proto;
  const auto count = static_cast<std::int64_t>(is_flat ? places.size() : places.size() / shape.size());
  *proto.mutable_values() = proto_of(ElementType::F32, {count});
  for (std::int64_t i = 0; i < count; ++i) proto.mutable_values()->add_float_data(static_cast<float>(i + 1));
  *proto.mutable_indices() =
      proto_of(ElementType::I64, is_flat ? Shape{count} : Shape{count, static_cast<std::int64_t>(shape.size())});
  for (const std::int64_t place : places) proto.mutable_indices()->add_int64_data(place);
  for (const std::int64_t extent : shape) proto.add_dims(extent);
  return proto;
}

TEST(TensorProto, SparseTensorsAreWrittenOut) {
  TensorDecoder decoder;
  EXPECT_THAT(decoder.decode(sparse({2, 3}, {1, 5}, true))->as<float>(), ElementsAre(0, 1, 0, 0, 0, 2));
  EXPECT_THAT(decoder.decode(sparse({2, 3}, {0, 1, 1, 2}, false))->as<float>(), ElementsAre(0, 1, 0, 0, 0, 2));
}

TEST(TensorProto, SparseTensorsOutsideTheirShapeOrTooLargeAreRefused) {
  TensorDecoder decoder;
  EXPECT_EQ(decoder.decode(sparse({2, 3}, {6}, true)).error().message,
            "a sparse tensor of shape [2, 3] has element 0 outside of it");
  EXPECT_EQ(decoder.decode(sparse({2, 3}, {0, 0, 0, -1}, false)).error().message,
            "a sparse tensor of shape [2, 3] has element 1 outside of it");
  EXPECT_THAT(decoder.decode(sparse({1 << 20, 1 << 20}, {6}, true)).error().message,
              HasSubstr("takes more than the 1073741824 bytes allowed"));
  onnx::SparseTensorProto wrong = sparse({2, 3}, {1}, true);
  wrong.mutable_indices()->set_dims(0, 2);
  wrong.mutable_indices()->add_int64_data(3);
  EXPECT_THAT(decoder.decode(wrong).error().message, HasSubstr("has values float[1] and indices int64[2]"));
}

/// A folder with files for external data, removed at the end.
class ExternalData : public testing::Test {
 protected:
  ExternalData() : folder_(fs::temp_directory_path() / ("hone_external_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "model" / "sub");
    std::vector<float> numbers(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    for (const char* name : {"model/w.bin", "model/sub/w.bin", "outside.bin"})
      std::ofstream(folder_ / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * 4));
    fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "out.bin");
    fs::create_symlink("w.bin", folder_ / "model" / "in.bin");
    fs::create_directory_symlink(folder_, folder_ / "model" / "up");
  }
  ~ExternalData() override { fs::remove_all(folder_); }

  Result<Tensor> read(const std::string& location, const std::string& offset = "", const std::string& length = "",
                      std::int64_t count = 2) const {
    onnx::TensorProto proto = proto_of(ElementType::F32, {count});
    proto.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto set = [&](const std::string& key, const std::string& value) {
      if (value.empty()) return;
      onnx::StringStringEntryProto* entry = proto.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    set("location", location);
    set("offset", offset);
    set("length", length);
    return TensorDecoder(folder_ / "model").decode(proto);
  }

  fs::path folder_;
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  EXPECT_THAT(read("w.bin")->as<float>(), ElementsAre(0, 1));
  EXPECT_THAT(read("w.bin", "12", "8")->as<float>(), ElementsAre(3, 4));
  EXPECT_THAT(read("sub/w.bin", "64")->as<float>(), ElementsAre(16, 17));
  EXPECT_THAT(read("./sub/w.bin", "248")->as<float>(), ElementsAre(62, 63));
  EXPECT_THAT(read("in.bin")->as<float>(), ElementsAre(0, 1)) << "a link that stays inside";
  EXPECT_EQ(read("w.bin", "256", "", 0)->size(), 0);
}

TEST_F(ExternalData, IsNotCopiedWhereItIsAligned) {
  onnx::TensorProto proto = proto_of(ElementType::F32, {16});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto set = [&](const char* key, const char* value) {
    onnx::StringStringEntryProto* entry = proto.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  set("location", "w.bin");
  set("offset", "64");
  TensorDecoder decoder(folder_ / "model");
  const Tensor first = *decoder.decode(proto), second = *decoder.decode(proto);
  EXPECT_EQ(first.data(), second.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 64, 0U);
}

/// The bytes of memory that the process has in use, pages of mapped files included.
std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(ExternalData, IsHeldOnceAlsoWhereItIsNotAligned) {
  if (!kHasMemoryLimit) GTEST_SKIP() << "sanitizers keep notes of all memory";
  constexpr std::int64_t kCount = 16 << 20;
  fs::resize_file(folder_ / "model" / "w.bin", 4 * kCount + 4);
  const std::size_t before = resident_bytes();
  const Result<Tensor> tensor = read("w.bin", "4", "", kCount);
  ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data()) % 64, 0U);
  EXPECT_THAT(tensor->as<float>().subspan(0, 3), ElementsAre(1, 2, 3));
  EXPECT_EQ(tensor->as<float>()[kCount - 1], 0);
  EXPECT_LT(resident_bytes() - before, tensor->bytes() * 3 / 2);
}

TEST_F(ExternalData, OutsideTheModelsFolderIsRefused) {
  EXPECT_EQ(read("../outside.bin").error().message, "external data '../outside.bin' is outside the model's folder");
  EXPECT_EQ(read("sub/../../outside.bin").error().message,
            "external data 'sub/../../outside.bin' is outside the model's folder");
  EXPECT_EQ(read((folder_ / "model/w.bin").string()).error().message,
            "external data '" + (folder_ / "model/w.bin").string() + "' is not a path from the model's folder");
  EXPECT_EQ(read("out.bin").error().message, "external data 'out.bin' is a link that leads outside the model's folder");
  EXPECT_EQ(read("up/outside.bin").error().message,
            "external data 'up/outside.bin' is a link that leads outside the model's folder");
  EXPECT_THAT(read("up/model/w.bin")->as<float>(), ElementsAre(0, 1)) << "out and in again";
}

TEST_F(ExternalData, ThatIsMissingOrTooShortIsRefused) {
  EXPECT_THAT(read("none.bin").error().message, HasSubstr("external data 'none.bin' cannot be opened: No such file"));
  EXPECT_EQ(read("").error().message, "external data has no location");
  EXPECT_THAT(read("sub").error().message, HasSubstr("is a directory, not a file"));
  EXPECT_EQ(read("w.bin", "252").error().message,
            "external data 'w.bin' has 256 bytes, but 8 bytes at 252 are asked for");
  EXPECT_THAT(read("w.bin", "18446744073709551615").error().message,
              HasSubstr("but 8 bytes at 18446744073709551615 are asked for"));
  EXPECT_EQ(read("w.bin", "0", "4").error().message, "float[2] needs 8 bytes of external data, found 4");
  EXPECT_EQ(read("w.bin", "-4").error().message, "external data has offset '-4', which is no number of bytes");
  EXPECT_EQ(read("w.bin", "0", "8 bytes").error().message,
            "external data has length '8 bytes', which is no number of bytes");
}

TEST(TensorProto, ExternalDataWithoutAFolderIsRefused) {
  onnx::TensorProto proto = proto_of(ElementType::F32, {1});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto* entry = proto.add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  EXPECT_EQ(message_of(proto),
            "external data 'w.bin' cannot be found: the model was read from memory, without a folder");
}

}  // namespace
}  // namespace hone::frontend
