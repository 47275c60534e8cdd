// SPDX-License-Identifier: Apache-2.0
#include "base/fault_file_system.h"

#include <algorithm>
#include <random>

namespace goodput {
namespace {

Status next_call(FaultPlan& plan, std::string_view doing, std::string_view name) {
  const uint64_t number = ++plan.calls;
  const bool fails = plan.fail_at != 0 && (plan.for_ever ? number >= plan.fail_at : number == plan.fail_at);
  return fails ? error_status(doing, name, plan.error_number) : Status();
}

class FaultyFile final : public File {
 public:
  FaultyFile(std::unique_ptr<File> under, FaultPlan& plan) : under_(std::move(under)), plan_(&plan) {}

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) const override {
    RETURN_IF_ERROR(next_call(*plan_, "reading", "a file"));
    return under_->read_at(offset, into);
  }
  Status write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    if (Status failed = next_call(*plan_, "writing", "a file"); !failed.ok()) {
      // A failed write has usually written something.
      (void)under_->write_at(offset, bytes.first(bytes.size() / 2));
      return failed;
    }
    return under_->write_at(offset, bytes);
  }
  Status sync() override {
    RETURN_IF_ERROR(next_call(*plan_, "syncing", "a file"));
    return under_->sync();
  }
  [[nodiscard]] Result<FileFacts> facts() const override {
    RETURN_IF_ERROR(next_call(*plan_, "looking at", "a file"));
    return under_->facts();
  }
  Status lock() override {
    RETURN_IF_ERROR(next_call(*plan_, "locking", "a file"));
    return under_->lock();
  }

 private:
  std::unique_ptr<File> under_;
  FaultPlan* plan_;
};

class FaultyDirectory final : public Directory {
 public:
  FaultyDirectory(std::unique_ptr<Directory> under, FaultPlan& plan) : under_(std::move(under)), plan_(&plan) {}

  Result<std::unique_ptr<File>> open_file(std::string_view name, Access access) override {
    RETURN_IF_ERROR(next_call(*plan_, "opening", name));
    ASSIGN_OR_RETURN(std::unique_ptr<File> file, under_->open_file(name, access));
    return std::unique_ptr<File>(std::make_unique<FaultyFile>(std::move(file), *plan_));
  }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    RETURN_IF_ERROR(next_call(*plan_, "opening", name));
    ASSIGN_OR_RETURN(std::unique_ptr<Directory> directory, under_->open_directory(name));
    return std::unique_ptr<Directory>(std::make_unique<FaultyDirectory>(std::move(directory), *plan_));
  }
  Status make_directory(std::string_view name) override {
    RETURN_IF_ERROR(next_call(*plan_, "making", name));
    return under_->make_directory(name);
  }
  Status rename(std::string_view from, std::string_view to) override {
    RETURN_IF_ERROR(next_call(*plan_, "renaming", from));
    return under_->rename(from, to);
  }
  Status remove_file(std::string_view name) override {
    RETURN_IF_ERROR(next_call(*plan_, "removing", name));
    return under_->remove_file(name);
  }
  Status remove_directory(std::string_view name) override {
    RETURN_IF_ERROR(next_call(*plan_, "removing", name));
    return under_->remove_directory(name);
  }
  Result<std::vector<std::string>> list() override {
    RETURN_IF_ERROR(next_call(*plan_, "listing", "a folder"));
    return under_->list();
  }
  [[nodiscard]] Result<FileFacts> facts(std::string_view name) override {
    RETURN_IF_ERROR(next_call(*plan_, "looking at", name));
    return under_->facts(name);
  }
  [[nodiscard]] Result<FileFacts> facts() override {
    RETURN_IF_ERROR(next_call(*plan_, "looking at", "a folder"));
    return under_->facts();
  }
  Status sync() override {
    RETURN_IF_ERROR(next_call(*plan_, "syncing", "a folder"));
    return under_->sync();
  }
  [[nodiscard]] bool is_local() override { return under_->is_local(); }

 private:
  std::unique_ptr<Directory> under_;
  FaultPlan* plan_;
};

uint64_t next_inode() {
  static uint64_t last = 0;
  return ++last;
}

class OpenMemoryFile final : public File {
 public:
  explicit OpenMemoryFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) const override {
    const auto& content = file_->content;
    if (offset >= content.size()) return size_t{0};
    const size_t size = std::min(into.size(), content.size() - offset);
    std::copy_n(content.begin() + static_cast<ptrdiff_t>(offset), size, into.begin());
    return size;
  }
  Status write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    if (bytes.empty()) return {};
    auto& content = file_->content;
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<ptrdiff_t>(offset));
    const uint64_t last = (offset + bytes.size() - 1) / MemoryFileSystem::kPageBytes;
    for (uint64_t page = offset / MemoryFileSystem::kPageBytes; page <= last; ++page)
      file_->unsynced_pages.insert(page);
    return {};
  }
  Status sync() override {
    file_->durable = file_->content;
    file_->unsynced_pages.clear();
    return {};
  }
  [[nodiscard]] Result<FileFacts> facts() const override {
    FileFacts facts;
    facts.size_bytes = file_->content.size();
    facts.inode = file_->inode;
    facts.type = FileType::kFile;
    return facts;
  }
  Status lock() override { return {}; }

 private:
  std::shared_ptr<MemoryFile> file_;
};

void carry_out(const MemoryDirectory::Change& change, MemoryDirectory::Entries& entries) {
  if (!change.gone.empty()) entries.erase(change.gone);
  if (!change.come.empty()) entries.insert_or_assign(change.come, change.entry);
}

class OpenMemoryDirectory final : public Directory {
 public:
  explicit OpenMemoryDirectory(std::shared_ptr<MemoryDirectory> directory) : directory_(std::move(directory)) {}

  Result<std::unique_ptr<File>> open_file(std::string_view name, Access access) override {
    auto found = directory_->entries.find(name);
    if (access == Access::kCreate) {
      if (found != directory_->entries.end()) return error_status("opening", name, EEXIST);
      auto file = std::make_shared<MemoryFile>();
      file->inode = next_inode();
      change({.gone = "", .come = std::string(name), .entry = {.file = file, .directory = nullptr}});
      return std::unique_ptr<File>(std::make_unique<OpenMemoryFile>(file));
    }
    if (found == directory_->entries.end() || found->second.file == nullptr) {
      return error_status("opening", name, ENOENT);
    }
    return std::unique_ptr<File>(std::make_unique<OpenMemoryFile>(found->second.file));
  }
  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    auto found = directory_->entries.find(name);
    if (found == directory_->entries.end() || found->second.directory == nullptr) {
      return error_status("opening", name, ENOENT);
    }
    return std::unique_ptr<Directory>(std::make_unique<OpenMemoryDirectory>(found->second.directory));
  }
  Status make_directory(std::string_view name) override {
    if (directory_->entries.contains(name)) return error_status("making", name, EEXIST);
    auto made = std::make_shared<MemoryDirectory>();
    made->inode = next_inode();
    change({.gone = "", .come = std::string(name), .entry = {.file = nullptr, .directory = made}});
    return {};
  }
  Status rename(std::string_view from, std::string_view to) override {
    auto found = directory_->entries.find(from);
    if (found == directory_->entries.end()) return error_status("renaming", from, ENOENT);
    change({.gone = std::string(from), .come = std::string(to), .entry = found->second});
    return {};
  }
  Status remove_file(std::string_view name) override { return remove(name, false); }
  Status remove_directory(std::string_view name) override { return remove(name, true); }
  Result<std::vector<std::string>> list() override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : directory_->entries) names.push_back(name);
    return names;
  }
  [[nodiscard]] Result<FileFacts> facts(std::string_view name) override {
    auto found = directory_->entries.find(name);
    if (found == directory_->entries.end()) return error_status("looking at", name, ENOENT);
    if (found->second.file != nullptr) return OpenMemoryFile(found->second.file).facts();
    return OpenMemoryDirectory(found->second.directory).facts();
  }
  [[nodiscard]] Result<FileFacts> facts() override {
    FileFacts facts;
    facts.inode = directory_->inode;
    facts.modified_ns = directory_->changes;
    facts.permissions = 0700;
    facts.type = FileType::kDirectory;
    return facts;
  }
  Status sync() override {
    directory_->durable = directory_->entries;
    directory_->unsynced.clear();
    return {};
  }
  [[nodiscard]] bool is_local() override { return true; }

 private:
  void change(MemoryDirectory::Change change) {
    carry_out(change, directory_->entries);
    directory_->unsynced.push_back(std::move(change));
    ++directory_->changes;
  }
  Status remove(std::string_view name, bool directory) {
    auto found = directory_->entries.find(name);
    if (found == directory_->entries.end() || (found->second.directory != nullptr) != directory) {
      return error_status("removing", name, ENOENT);
    }
    if (directory && !found->second.directory->entries.empty()) return error_status("removing", name, ENOTEMPTY);
    change({.gone = std::string(name), .come = "", .entry = {}});
    return {};
  }

  std::shared_ptr<MemoryDirectory> directory_;
};

void cut(MemoryFile& file, std::mt19937_64& random) {
  constexpr uint64_t kPage = MemoryFileSystem::kPageBytes;
  const bool size_kept = file.content.size() <= file.durable.size() || random() % 2 == 0;
  std::vector<std::byte> after = file.durable;
  if (size_kept) after.resize(file.content.size());
  for (const uint64_t page : file.unsynced_pages) {
    if (random() % 2 == 0) continue;
    const size_t begin = page * kPage;
    const size_t end = std::min({begin + kPage, after.size(), file.content.size()});
    if (begin < end) {
      std::copy(file.content.begin() + static_cast<ptrdiff_t>(begin),
                file.content.begin() + static_cast<ptrdiff_t>(end), after.begin() + static_cast<ptrdiff_t>(begin));
    }
  }
  file.content = file.durable = std::move(after);
  file.unsynced_pages.clear();
}

void cut(MemoryDirectory& directory, std::mt19937_64& random) {
  directory.entries = directory.durable;
  for (const MemoryDirectory::Change& change : directory.unsynced) {
    if (random() % 2 == 0) carry_out(change, directory.entries);
  }
  directory.durable = directory.entries;
  directory.unsynced.clear();
  for (auto& [name, entry] : directory.entries) {
    if (entry.file != nullptr) cut(*entry.file, random);
    if (entry.directory != nullptr) cut(*entry.directory, random);
  }
}

}  // namespace

Result<std::unique_ptr<Directory>> FaultyFileSystem::open_directory(const std::string& path) {
  RETURN_IF_ERROR(next_call(plan_, "opening", path));
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> directory, under_->open_directory(path));
  return std::unique_ptr<Directory>(std::make_unique<FaultyDirectory>(std::move(directory), plan_));
}

Status FaultyFileSystem::make_directories(const std::string& path) {
  RETURN_IF_ERROR(next_call(plan_, "making", path));
  return under_->make_directories(path);
}

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<MemoryDirectory>()) {}

Result<std::unique_ptr<Directory>> MemoryFileSystem::open_directory(const std::string& path) {
  std::shared_ptr<MemoryDirectory> at = root_;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) {
      auto found = at->entries.find(path.substr(begin, end - begin));
      if (found == at->entries.end() || found->second.directory == nullptr) {
        return error_status("opening", path, ENOENT);
      }
      at = found->second.directory;
    }
    begin = end + 1;
  }
  return std::unique_ptr<Directory>(std::make_unique<OpenMemoryDirectory>(at));
}

Status MemoryFileSystem::make_directories(const std::string& path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Directory> parent, open_directory(path.substr(0, begin)));
      const Status made = parent->make_directory(path.substr(begin, end - begin));
      if (!made.ok() && made.code() != StatusCode::kAlreadyExists) return made;
    }
    begin = end + 1;
  }
  return {};
}

void MemoryFileSystem::lose_power(uint64_t seed) {
  std::mt19937_64 random(seed);
  cut(*root_, random);
}

}  // namespace goodput
