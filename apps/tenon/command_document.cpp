#include "command_document.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tenon/utf8.hpp"

namespace tenon::cli {

namespace {

namespace bj = boost::json;

constexpr std::size_t largest = std::size_t{1} << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Result<bj::value> parse(std::string_view text) {
  bj::error_code error;
  bj::value value = bj::parse(bj::string_view(text.data(), text.size()), error);
  if (error) return Error(Errc::malformed, "it is no JSON: " + error.message(), Delivery::not_run, Advice::never);
  return value;
}

std::string shown(const bj::value& value) {
  return value.is_string() ? std::string(value.get_string().data(), value.get_string().size()) : bj::serialize(value);
}

std::vector<std::string> texts(const bj::object& entry, const char* field) {
  std::vector<std::string> all;
  if (const bj::value* value = entry.if_contains(field); value && value->is_array())
    for (const bj::value& each : value->get_array()) all.push_back(shown(each));
  return all;
}

std::string text_of(const bj::object& entry, const char* field) {
  const bj::value* value = entry.if_contains(field);
  return value && !value->is_null() ? shown(*value) : std::string();
}

bool is_scalar(const bj::value& value) { return !value.is_array() && !value.is_object(); }

void print(const bj::value& value, const std::string& indent, std::string& out) {
  const std::string deeper = indent + "  ";
  if (const bj::object* object = value.if_object(); object && !object->empty()) {
    out += "{\n";
    for (const auto& member : *object) {
      out += deeper + bj::serialize(member.key()) + ": ";
      print(member.value(), deeper, out);
      out += &member == &*std::prev(object->end()) ? "\n" : ",\n";
    }
    out += indent + "}";
    return;
  }
  const bj::array* list = value.if_array();
  if (!list || list->empty()) {
    out += bj::serialize(value);
    return;
  }
  const bool on_one_line = std::all_of(list->begin(), list->end(), is_scalar);
  out += on_one_line ? "[" : "[\n";
  for (const bj::value& each : *list) {
    if (!on_one_line) out += deeper;
    print(each, deeper, out);
    const bool last = &each == &list->back();
    out += on_one_line ? (last ? "" : ", ") : (last ? "\n" : ",\n");
  }
  out += on_one_line ? "]" : indent + "]";
}

Error unreadable(const std::string& source, const std::string& why) {
  return Error(Errc::config, source + ": " + why, Delivery::not_run, Advice::never);
}

}  // namespace

Result<std::vector<CommandEntry>> read_entries(std::string_view text) {
  std::vector<CommandEntry> entries;
  if (trimmed(text).empty()) return entries;
  auto document = parse(text);
  if (!document.ok()) return std::move(document).error();
  const bj::object* object = document->if_object();
  const bj::value* list = object ? object->if_contains("clientCommandList") : nullptr;
  if (!list || !list->is_array()) return entries;
  std::size_t position = 0;
  for (const bj::value& value : list->get_array()) {
    ++position;
    const bj::object* entry = value.if_object();
    if (!entry) continue;
    CommandEntry read;
    read.position = position;
    if (const bj::value* index = entry->if_contains("index"); index && index->is_int64())
      read.index = index->get_int64();
    read.pattern = text_of(*entry, "pattern");
    read.remark = text_of(*entry, "remark");
    read.merge_groups = texts(*entry, "mergeGroups");
    read.route_rules = texts(*entry, "routeRules");
    entries.push_back(std::move(read));
  }
  std::sort(entries.begin(), entries.end(), [](const CommandEntry& a, const CommandEntry& b) {
    return a.index == b.index ? a.position < b.position : a.index < b.index;  // nothing comes before every number
  });
  return entries;
}

std::vector<std::string> drained_groups(const std::vector<CommandEntry>& entries) {
  std::vector<std::string> drained;
  for (const CommandEntry& entry : entries)
    for (const std::string& merged : entry.merge_groups) {
      const std::size_t colon = merged.rfind(':');
      if (colon == std::string::npos) continue;
      const std::string_view digits = trimmed(std::string_view(merged).substr(colon + 1));
      int weight = -1;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
      if (error != std::errc() || end != digits.data() + digits.size() || weight != 0) continue;
      std::string group(trimmed(std::string_view(merged).substr(0, colon)));
      if (std::find(drained.begin(), drained.end(), group) == drained.end()) drained.push_back(std::move(group));
    }
  return drained;
}

Result<std::string> pretty_json(std::string_view text) {
  auto value = parse(text);
  if (!value.ok()) return std::move(value).error();
  std::string out;
  print(*value, "", out);
  return out;
}

std::string json_text(std::string_view text) {
  if (is_utf8(text)) return bj::serialize(bj::string_view(text.data(), text.size()));
  std::string shown;  // a byte that belongs to no character is no text
  for (const char c : text) shown += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return bj::serialize(bj::string_view(shown.data(), shown.size()));
}

Result<std::string> read_source(const std::string& source) {
  std::string text;
  std::string_view what = trimmed(source);
  if (what.starts_with('{')) {
    text = what;
  } else {
    const bool standard = source == "-";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        standard ? stdin : std::fopen(source.c_str(), "re"),
        [](std::FILE* open) { return open == stdin ? 0 : std::fclose(open); });
    if (!file)
      return unreadable(source, std::string(std::strerror(errno)) +
                                    "; give a file, - for standard input, or the document itself, {…}");
    char buffer[4096];
    while (text.size() <= largest) {
      const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get());
      text.append(buffer, got);
      if (got < sizeof buffer) break;
    }
    if (std::ferror(file.get()) != 0) return unreadable(source, std::strerror(errno));
    text = std::string(trimmed(text));
  }
  if (text.size() > largest) return unreadable(source, "it has more than 1 MiB");
  if (text.empty()) return unreadable(source, "there is nothing in it; `tenon command delete` takes a command away");
  return text;
}

}  // namespace tenon::cli
