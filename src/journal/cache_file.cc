// SPDX-License-Identifier: Apache-2.0
#include "journal/cache_file.h"

#include <string>

namespace goodput::journal {

std::string scratch_name(std::string_view name) { return std::string(name).append(".new"); }

Status replace_cache_file(Directory& directory, std::string_view name, std::span<const std::byte> bytes) {
  const std::string scratch = scratch_name(name);
  // Left by one who was killed.
  (void)directory.remove_file(scratch);
  Status written;
  {
    const Result<std::unique_ptr<File>> file = directory.open_file(scratch, Access::kCreate);
    written = file.ok() ? (*file)->write_at(0, bytes) : file.status();
  }
  if (written.ok()) written = directory.rename(scratch, name);
  if (!written.ok()) (void)directory.remove_file(scratch);
  return written;
}

}  // namespace goodput::journal
