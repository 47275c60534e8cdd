// A job's entries in a store, as a file that importers read.
//
//   ASSIGN_OR_RETURN(const StoreInput input, StoreInput::fetch(context.globals.store, "llama-7b"));
//   import_log(input.path(), {.job = "llama-7b"});
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/status.h"

namespace goodput::cli {

/// Whether a --store was named; else ("" or "auto") the journals are asked.
bool is_named_store(const std::string& store);

class StoreInput {
 public:
  /// Everything that the log has of the job, in a temporary file without a name. kInvalidArgument: `store` is none that
  /// can be read; kNotFound: nothing; kUnavailable: the service could not be asked.
  static Result<StoreInput> fetch(const std::string& store, const std::string& job);

  [[nodiscard]] std::string path() const;
  /// The log's memory ends within the job: what came before is gone.
  [[nodiscard]] bool may_be_cut_off() const { return may_be_cut_off_; }

 private:
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<FILE, Close> file_;
  bool may_be_cut_off_ = false;
};

}  // namespace goodput::cli
