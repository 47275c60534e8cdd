// SPDX-License-Identifier: Apache-2.0
#include "importers/entry_reader.h"

#include <algorithm>
#include <cstring>

#include "base/byte_search.h"

namespace goodput::importers {
namespace {

/// 1 MiB: some 14,000 steps a read, and small beside what the events take.
constexpr size_t kChunkBytes = 1UL << 20;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

EntryReader::EntryReader(InputFile& input, size_t max_entry_bytes) : input_(input), max_entry_bytes_(max_entry_bytes) {}

Result<bool> EntryReader::next(Entry& entry) {
  if (!started_) RETURN_IF_ERROR(start());
  for (;;) {
    bool found = false;
    RETURN_IF_ERROR(skip_blanks(found));
    if (!found) return false;
    const char first = buffer_[begin_];
    if (!inside_array_) {
      bool starts = false;
      if (first == '[') RETURN_IF_ERROR(starts_array(starts));
      if (!starts) {
        RETURN_IF_ERROR(take_line(entry));
        return true;
      }
      inside_array_ = true;
    } else if (first == ']') {
      inside_array_ = false;
    } else {
      RETURN_IF_ERROR(first == '{' ? take_element(entry) : take_until_separator(entry));
      return true;
    }
    own_line_ = false;
    scan_ = ++begin_;
  }
}

/// Passes over a byte order mark. UTF-16 is told as what it is, for it is what PowerShell makes of a redirected export.
Status EntryReader::start() {
  started_ = true;
  while (end_ < 3 && !at_end_) RETURN_IF_ERROR(fill());
  const std::string_view head(buffer_.get(), std::min<size_t>(end_, 3));
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    return {StatusCode::kUnreadable, "reading " + input_.name() + ": it is UTF-16 text, save it as UTF-8"};
  }
  if (head == "\xef\xbb\xbf") begin_ = scan_ = 3;
  return {};
}

/// Makes room and reads on. An entry that has outgrown its bound is forgotten as far as it has been looked at.
Status EntryReader::fill() {
  if (at_end_) return {};
  if (end_ - begin_ > max_entry_bytes_) {
    lines_dropped_ += lines_up_to(scan_);
    begin_ = scan_;
    too_long_ = true;
  }
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    scan_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) RETURN_IF_ERROR(grow());
  ASSIGN_OR_RETURN(const size_t got, input_.read({buffer_.get() + end_, capacity_ - end_}));
  end_ += got;
  at_end_ = got == 0;
  return {};
}

/// To twice the size, but not beyond what the longest entry takes.
Status EntryReader::grow() {
  const size_t wanted = std::min(std::max(2 * capacity_, kChunkBytes), max_entry_bytes_ + kChunkBytes);
  auto* const grown = static_cast<char*>(std::realloc(buffer_.get(), wanted));
  if (grown == nullptr) {
    return {StatusCode::kUnavailable,
            "reading " + input_.name() + ": no memory for an entry of " + std::to_string(wanted) + " bytes"};
  }
  static_cast<void>(buffer_.release());
  buffer_.reset(grown);
  capacity_ = wanted;
  return {};
}

uint64_t EntryReader::lines_up_to(size_t end) const {
  uint64_t lines = 0;
  const char* const behind = buffer_.get() + end;
  for (const char* at = buffer_.get() + begin_; at != behind; ++at, ++lines) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(behind - at)));
    if (at == nullptr) break;
  }
  return lines;
}

/// Moves to the next byte that belongs to an entry. Commas are blanks here: only elements stand between them.
Status EntryReader::skip_blanks(bool& found) {
  for (;;) {
    for (; begin_ < end_; ++begin_) {
      const char c = buffer_[begin_];
      if (c == '\n') {
        ++line_;
        indent_ = 0;
        own_line_ = true;
      } else if (is_blank(c)) {
        if (own_line_) ++indent_;
      } else if (c != ',') {
        scan_ = begin_;
        found = true;
        return {};
      }
    }
    scan_ = begin_;
    if (at_end_) return {};
    RETURN_IF_ERROR(fill());
  }
}

/// Whether the "[" at begin_ is followed by an object, perhaps on the next line: "[INFO] starting" is no array.
Status EntryReader::starts_array(bool& starts) {
  for (size_t ahead = 1;; ++ahead) {
    if (begin_ + ahead == end_) {
      if (at_end_ || ahead > kChunkBytes) return {};
      RETURN_IF_ERROR(fill());
      if (begin_ + ahead == end_) return {};
    }
    const char c = buffer_[begin_ + ahead];
    if (is_blank(c)) continue;
    starts = c == '{' || c == ']';
    return {};
  }
}

Status EntryReader::take_line(Entry& entry) {
  const void* newline = nullptr;
  for (;;) {
    newline = std::memchr(buffer_.get() + scan_, '\n', end_ - scan_);
    if (newline != nullptr) break;
    scan_ = end_;
    if (at_end_) break;
    RETURN_IF_ERROR(fill());
  }
  const size_t end = newline == nullptr ? end_ : static_cast<size_t>(static_cast<const char*>(newline) - buffer_.get());
  const bool opens_object = buffer_[begin_] == '{' && std::all_of(&buffer_[begin_] + 1, buffer_.get() + end, is_blank);
  if (opens_object && !too_long_) {  // printed over several lines
    scan_ = begin_;
    return take_element(entry);
  }
  deliver(end, /*lines=*/0, entry);
  return {};
}

Status EntryReader::take_element(Entry& entry) {
  Nesting nesting;
  while (!scan_element(nesting)) {
    if (at_end_) {
      scan_ = end_;
      break;
    }
    RETURN_IF_ERROR(fill());
  }
  deliver(scan_, lines_up_to(scan_), entry);
  return {};
}

/// Looks on for the end of an element: behind its last bracket, or before the line on which another plainly begins.
/// False when more bytes are needed.
bool EntryReader::scan_element(Nesting& nesting) {
  const char* const base = buffer_.get();
  for (; scan_ < end_; ++scan_) {
    if (!nesting.escaped) {  // go to the next byte that means something
      const char* const from = base + scan_;
      const char* const found = nesting.in_string ? find_first_of<'"', '\\', '\n'>(from, base + end_)
                                                  : find_first_of<'"', '{', '}', '\n'>(from, base + end_);
      scan_ = static_cast<size_t>(found - base);
      if (scan_ == end_) break;
    }
    const char c = base[scan_];
    if (c == '\n') {
      // No string of JSON holds a line break: whatever was open, a damaged quote does not reach beyond its line.
      nesting.in_string = nesting.escaped = false;
      if (!at_end_ && end_ - scan_ < indent_ + 2) return false;
      if (nesting.depth > 0 && next_line_begins_element()) return true;
    } else if (nesting.escaped) {
      nesting.escaped = false;
    } else if (nesting.in_string) {
      nesting.escaped = c == '\\';
      nesting.in_string = c != '"';
    } else if (c == '"') {
      nesting.in_string = true;
    } else if (c == '{') {
      ++nesting.depth;
    } else if (c == '}' && --nesting.depth == 0) {
      ++scan_;
      return true;
    }
  }
  return false;
}

/// Whether the line after the break at scan_ opens an object at the indentation of this element. An array printed
/// without indentation has nested objects there too, so there it says nothing.
bool EntryReader::next_line_begins_element() const {
  if (indent_ == 0 && inside_array_) return false;
  const size_t bracket = scan_ + 1 + indent_;
  return bracket < end_ && buffer_[bracket] == '{' &&
         std::all_of(buffer_.get() + scan_ + 1, buffer_.get() + bracket, [](char c) { return c == ' ' || c == '\t'; });
}

/// Something between elements that is none.
Status EntryReader::take_until_separator(Entry& entry) {
  for (;;) {
    const auto ends = [](char c) { return c == ',' || c == ']' || c == '\n'; };
    const char* const found = std::find_if(buffer_.get() + scan_, buffer_.get() + end_, ends);
    scan_ = static_cast<size_t>(found - buffer_.get());
    if (scan_ < end_ || at_end_) break;
    RETURN_IF_ERROR(fill());
  }
  deliver(scan_, lines_up_to(scan_), entry);
  return {};
}

/// Gives out [begin_, end), in which so many lines end, and goes on behind it.
void EntryReader::deliver(size_t end, uint64_t lines, Entry& entry) {
  const size_t next = end;
  entry.line = line_;
  entry.too_long = too_long_ || end - begin_ > max_entry_bytes_;
  line_ += lines_dropped_ + lines;
  while (end > begin_ && is_blank(buffer_[end - 1])) --end;
  entry.text = entry.too_long ? std::string_view() : std::string_view(buffer_.get() + begin_, end - begin_);
  too_long_ = false;
  lines_dropped_ = 0;
  indent_ = 0;
  own_line_ = false;
  begin_ = scan_ = next;
}

}  // namespace goodput::importers
