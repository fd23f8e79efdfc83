/// Memory whose content a file has as well, so that it can be given back to the system and read again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>

#include "hone/runtime/buffer.h"

namespace hone::runtime {

/// A file that is read again later: it notices if the file is not what it was.
class SourceFile {
 public:
  static Result<std::shared_ptr<const SourceFile>> open(const std::filesystem::path& file);
  ~SourceFile();
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  /// Reads the bytes at `offset`. An error if the file was changed since it was opened.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  SourceFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_;
  std::string name_;
  off_t size_ = 0;
  timespec changed_ = {};
};

/// The bytes at an offset of a file, in memory or not. Whoever reads them sees to it that they are there.
class BackedBytes {
 public:
  /// A copy of `content`, which is what the file has at `offset`.
  static Result<std::shared_ptr<BackedBytes>> copy(std::span<const std::byte> content,
                                                   std::shared_ptr<const SourceFile> file, std::uint64_t offset);

  std::byte* data() { return memory_.data(); }

  /// Gives the memory back, but for pages shared with something else; the content is undefined until it is restored.
  void give_back();
  /// Reads what was given back.
  Result<void> restore();

 private:
  BackedBytes(AlignedBytes memory, std::shared_ptr<const SourceFile> file, std::uint64_t offset)
      : memory_(std::move(memory)), file_(std::move(file)), offset_(offset) {}

  AlignedBytes memory_;
  std::shared_ptr<const SourceFile> file_;
  std::uint64_t offset_;
  bool is_given_back_ = false;
};

}  // namespace hone::runtime
