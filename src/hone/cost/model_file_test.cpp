#include "hone/cost/model_file.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace hone::cost {
namespace {

using ::testing::HasSubstr;

class ModelFile : public ::testing::Test {
 protected:
  ModelFile() : file_(std::filesystem::temp_directory_path() / ("hone_model_file_" + std::to_string(::getpid()))) {}
  ~ModelFile() override { std::filesystem::remove(file_); }

  std::string content() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void put(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  std::string read_error(const ModelIdentity& identity = {"trees", "stores/1"}) const {
    const auto sections = read_model_file(file_, identity);
    return sections ? "" : sections.error().message;
  }

  std::filesystem::path file_;
};

TEST_F(ModelFile, SectionsComeBackAsTheyWere) {
  const std::string zeros(5, '\0');
  ASSERT_TRUE(write_model_file(file_, {"trees", "stores/1"}, {{"a", "one\ntwo"}, {"empty", ""}, {"zeros", zeros}}));
  const auto sections = read_model_file(file_, {"trees", "stores/1"}).value();
  ASSERT_EQ(sections.size(), 3u);
  EXPECT_EQ(find_section(sections, "a", file_).value(), "one\ntwo");
  EXPECT_EQ(find_section(sections, "empty", file_).value(), "");
  EXPECT_EQ(find_section(sections, "zeros", file_).value(), zeros);
  const auto missing = find_section(sections, "b", file_);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("has no section 'b'"));
}

TEST_F(ModelFile, AnotherModelOrSchemaIsRefusedByName) {
  ASSERT_TRUE(write_model_file(file_, {"trees", "stores/1"}, {}));
  EXPECT_THAT(read_error({"ranks", "stores/1"}), HasSubstr("was written by the model 'trees', not by 'ranks'"));
  EXPECT_THAT(read_error({"trees", "stores/2"}),
              HasSubstr("has features of the schema 'stores/1', this model reads 'stores/2'"));
}

TEST_F(ModelFile, CutAnywhereItIsAnErrorThatNamesTheFile) {
  ASSERT_TRUE(write_model_file(file_, {"trees", "stores/1"}, {{"a", "0123456789"}}));
  const std::string whole = content();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_THAT(read_error(), HasSubstr(file_.string())) << size;
  }
  put(whole + "x");
  EXPECT_THAT(read_error(), HasSubstr("has 19 bytes after its header, which announces 18"));
}

TEST_F(ModelFile, AChangedByteIsNoticed) {
  ASSERT_TRUE(write_model_file(file_, {"trees", "stores/1"}, {{"a", "0123456789"}}));
  const std::string whole = content();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] ^= 1;
    put(changed);
    EXPECT_NE(read_error(), "") << i;
  }
}

TEST_F(ModelFile, AMissingFileAndAMissingFolderAreNamed) {
  EXPECT_THAT(read_error(), HasSubstr("cannot be opened: No such file"));
  const Result<void> status = write_model_file(file_ / "below" / "it", {"trees", "stores/1"}, {});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace hone::cost
