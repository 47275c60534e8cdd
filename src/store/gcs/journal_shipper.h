// Ships the journals of a run that lie on this machine to a bucket, file by file.
//
//   ASSIGN_OR_RETURN(auto bucket, gcp::Bucket::open("my-bucket", {}));
//   JournalShipper shipper(*bucket, address, {.files = &files, .roots = roots, .run = run});
//   Status status = shipper.ship();                     // again and again: each time what is new
//
// A sealed segment becomes an object that nobody replaces. Of one that is still written a copy is kept there
// (journal/live_copy.h), replaced as it grows and removed once its sealed form has arrived. No object gives way to one
// with fewer events. What the bucket has is learnt from its listing: a shipper that starts again sends nothing twice.
// One shipper at a time for the journals of a folder. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "gcp/bucket.h"
#include "gcp/bucket_address.h"
#include "journal/live_copy.h"
#include "journal/roots.h"
#include "journal/run_folder.h"
#include "store/gcs/journal_objects.h"

namespace goodput::store {

struct ShipperOptions {
  FileSystem* files = nullptr;  ///< outlives the shipper, as does the clock
  std::vector<journal::Root> roots;
  journal::RunName run;
  const Clock* clock = &system_clock();
};

class JournalShipper {
 public:
  JournalShipper(gcp::Bucket& bucket, gcp::BucketAddress address, ShipperOptions options)
      : bucket_(&bucket), address_(std::move(address)), options_(std::move(options)) {}

  /// Sends what is new; costs what is new, and a look at each journal's folder. After a failure the next call goes on.
  /// kUnavailable: it may pass, kPermissionDenied, kNotFound (the bucket): somebody must do something.
  Status ship();

  /// Local files that could not be read when they were last tried.
  [[nodiscard]] uint64_t unread() const { return unread_; }

 private:
  /// An object that was written or listed.
  struct Shipped {
    gcp::ObjectFacts object{};
    std::optional<size_t> events{};  ///< nothing: nobody has counted them yet
    uint64_t pairs = 0;              ///< of a copy of a live segment: signs of life
    int64_t written_boot_ns = std::numeric_limits<int64_t>::min();
  };
  using BySegment = std::map<uint32_t, Shipped>;
  struct Journal {
    bool is_listed = false;   ///< what the bucket has of it
    int64_t settled_ns = -1;  ///< its folder's time of change when all of it was shipped
    BySegment sealed, live;
  };
  struct RunFolder {
    std::unique_ptr<Directory> directory;
    int64_t settled_ns = -1;  ///< its time of change when its journals were listed
    std::map<std::array<uint8_t, 16>, Journal> journals;
  };
  struct Names {
    std::vector<uint32_t> sealed, live;  // by number
    bool has_changed = false;            // one of them is gone
  };

  void open_folders();
  void find_journals(RunFolder& folder) const;
  [[nodiscard]] bool is_settled(int64_t modified_ns) const;
  Status ship_journal(Directory& run_folder, const std::array<uint8_t, 16>& id, Journal& journal);
  Names list_segments(Directory& folder);
  Status learn(const std::string& prefix, Journal& journal);
  Status ship_sealed(Directory& folder, const std::string& prefix, uint32_t number, Journal& journal);
  Status ship_live(Directory& folder, const std::string& prefix, uint32_t number, Journal& journal, Names& names);
  [[nodiscard]] bool is_due(const journal::LiveCopy& copy, const Shipped& known) const;
  Status remove_copies(const Names& names, Journal& journal);
  Status write(const std::string& name, std::span<const std::byte> bytes, size_t events, Shipped& known,
               Journal& journal);
  Result<size_t> events_of(Shipped& shipped, journal::SegmentForm form);

  gcp::Bucket* bucket_;
  gcp::BucketAddress address_;
  ShipperOptions options_;
  std::vector<RunFolder> folders_;  // by root; without a directory where there is none yet
  uint64_t unread_ = 0;
};

}  // namespace goodput::store
