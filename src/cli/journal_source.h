// Where journals are found: in the folders of this machine, or in the store that was named.
//
//   ASSIGN_OR_RETURN(const JournalSource source, JournalSource::open(context, options->job));
//   ASSIGN_OR_RETURN(const monitor::RunName run, monitor::find_run(posix_file_system(), source.roots(), options->job));
//   ASSIGN_OR_RETURN(auto job, source.follow(run, {}));
//
// A store of journals is gs://BUCKET/FOLDER, of which what is asked for is copied here first, or file:///FOLDER. Of a
// log (cloud-logging://PROJECT/LOG) a copy as journals is made, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "ledger/options.h"
#include "monitor/followed_job.h"
#include "store/gcs/journal_mirror.h"

namespace goodput::cli {

/// Whether a --store holds journals, not entries of a log.
bool is_journal_store(std::string_view store);

class JournalSource {
 public:
  /// For what is recorded of a job (NAME or NAME@RUN), or of all (""). kNotFound: the bucket has nothing of it;
  /// kUnavailable: it could not be asked.
  static Result<JournalSource> open(const Context& context, std::string_view name);
  /// In this store, whatever --store says.
  static Result<JournalSource> open(const Context& context, const std::string& store, std::string_view name);

  [[nodiscard]] const std::vector<journal::Root>& roots() const { return roots_; }
  /// With everything that is recorded of it until now; what a bucket has is followed there.
  [[nodiscard]] Result<std::unique_ptr<monitor::FollowedJob>> follow(const monitor::RunName& run,
                                                                     const ledger::Options& options) const;

 private:
  std::vector<journal::Root> roots_;
  std::shared_ptr<store::JournalMirror> mirror_;  ///< null: the folders are where the job is recorded
};

}  // namespace goodput::cli
