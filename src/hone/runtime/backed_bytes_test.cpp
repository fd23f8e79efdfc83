#include "hone/runtime/backed_bytes.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace hone::runtime {
namespace {

namespace fs = std::filesystem;

/// A file of bytes that differ from page to page, removed in the end.
class BackedBytesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < content_.size(); ++i) content_[i] = static_cast<char>(i * 7 + i / 4096);
    write(content_);
  }
  void TearDown() override { fs::remove(file_); }

  void write(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }

  std::shared_ptr<BackedBytes> bytes_at(std::size_t offset, std::size_t size) const {
    const auto source = SourceFile::open(file_);
    EXPECT_TRUE(source);
    const auto bytes = BackedBytes::copy(std::as_bytes(std::span(content_)).subspan(offset, size), *source, offset);
    EXPECT_TRUE(bytes);
    return *bytes;
  }

  fs::path file_ = fs::temp_directory_path() / ("hone_backed_" + std::to_string(::getpid()));
  std::string content_ = std::string(100'003, '\0');
};

TEST_F(BackedBytesTest, WhatIsGivenBackIsReadAgain) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{65'537}, std::size_t{99'990}}) {
    const std::shared_ptr<BackedBytes> bytes = bytes_at(13, size);
    for (int i = 0; i < 2; ++i) {
      bytes->give_back();
      ASSERT_TRUE(bytes->restore());
      EXPECT_EQ(std::memcmp(bytes->data(), content_.data() + 13, size), 0) << size;
    }
  }
}

TEST_F(BackedBytesTest, AFileThatChangedIsNoSource) {
  const std::shared_ptr<BackedBytes> bytes = bytes_at(0, 65'536);
  ASSERT_TRUE(bytes->restore());  // nothing was given back
  bytes->give_back();
  write(content_.substr(0, 50'000));
  const Result<void> restored = bytes->restore();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().message, "'" + file_.string() +
                                          "' was changed after it was loaded, but is needed again for inputs of a new "
                                          "shape");
}

TEST_F(BackedBytesTest, AMissingFileIsNamed) {
  const auto source = SourceFile::open(file_.string() + ".not");
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().message.find(file_.string() + ".not"), std::string::npos);
}

}  // namespace
}  // namespace hone::runtime
