// SPDX-License-Identifier: Apache-2.0
#include "cli/store_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "base/time_text.h"
#include "store/cloud_logging/log_reader.h"

namespace goodput::cli {

bool is_named_store(const std::string& store) { return !store.empty() && store != "auto"; }

Result<StoreInput> StoreInput::fetch(const std::string& store, const std::string& job) {
  ASSIGN_OR_RETURN(const store::LogAddress address, store::parse_log_address(store));
  ASSIGN_OR_RETURN(const auto reader, store::CloudLogReader::open({.address = address}, job, {}));
  StoreInput input;
  input.file_.reset(std::tmpfile());
  if (input.file_ == nullptr) return error_status("making", "a temporary file", errno);
  size_t entries = 0;
  bool is_written = true;
  const Status read = reader->poll([&](const store::LogRecord& record) {
    // As Cloud Logging itself exports them.
    const std::string opening =
        fmt::format(R"({{"timestamp":"{}","insertId":{},"jsonPayload":)", format_time_ns(record.timestamp_ns),
                    nlohmann::json(record.insert_id).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    for (const std::string_view part : {std::string_view(opening), record.payload, std::string_view("}\n")}) {
      is_written = is_written && std::fwrite(part.data(), 1, part.size(), input.file_.get()) == part.size();
    }
    ++entries;
  });
  if (!read.ok()) return read;
  if (!is_written || std::fflush(input.file_.get()) != 0) return error_status("writing", "a temporary file", errno);
  if (entries == 0) {
    return Status(StatusCode::kNotFound,
                  fmt::format("looking for job \"{}\" in {}: it has no entries of it", job, store));
  }
  input.may_be_cut_off_ = reader->may_be_cut_off();
  return input;
}

std::string StoreInput::path() const { return fmt::format("/proc/self/fd/{}", fileno(file_.get())); }

}  // namespace goodput::cli
