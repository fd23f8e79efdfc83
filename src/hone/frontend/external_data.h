/// Files beside a model that hold the content of its large tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hone/support/result.h"

namespace hone::frontend {

/// A file that the system shows as memory; pages are read when they are touched.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

/// A piece of a file, kept alive by `owner`.
struct FilePart {
  std::span<const std::byte> bytes;
  std::shared_ptr<const MappedFile> owner;

  /// Gives back the memory of the pages that hold nothing but this piece; they are read again if they are touched.
  void forget() const;
};

/// The files of one folder, each opened once. Nothing outside the folder can be reached.
class ExternalFiles {
 public:
  /// An empty folder: there are none.
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `length` bytes at `offset` of the file at `location`, a path from the folder; without a length, up to the end.
  Result<FilePart> read(const std::string& location, std::uint64_t offset, std::optional<std::uint64_t> length);

 private:
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> opened_;
};

}  // namespace hone::frontend
