#include "plugin_host/probe_report.hpp"

#include <vector>

#include "tenon/describe.hpp"

namespace tenon::plugin_host {

namespace {

std::string line(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += '\t';
    for (const char c : word) {
      switch (c) {
        case '\\': text += "\\\\"; break;
        case '\t': text += "\\t"; break;
        case '\n': text += "\\n"; break;
        default: text += c;
      }
    }
  }
  return text + '\n';
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\t') {
      words.emplace_back();
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      const char c = text[++i];
      words.back() += c == 't' ? '\t' : c == 'n' ? '\n' : c;
    } else {
      words.back() += text[i];
    }
  }
  return words;
}

class OptionLines final : public MemberVisitor {
 public:
  void member(std::string_view path, const Field& field, const std::string& value) override {
    text += line({"option", path, type_text(*field.type), value, field.help});
  }
  std::string text;
};

}  // namespace

std::string report_of(const OpenPlugin& plugin, const std::vector<CatalogEntry>& entries) {
  const Plugin& constant = *plugin.plugin;
  std::string text = line({"plugin", constant.name, constant.version, constant.stamp});
  for (const CatalogEntry& entry : entries) {
    text += line({"entry", entry.kind, entry.name});
    OptionLines options;
    void* const defaults = entry.options->create();
    visit_members(*entry.options, defaults, options);
    entry.options->destroy(defaults);
    text += options.text;
  }
  return text + line({"end"});
}

std::string report_of(const Error& refusal) { return line({"refused", refusal.text()}) + line({"end"}); }

std::string report_of_exception(std::string_view type, std::string_view text) { return line({"threw", type, text}); }

ProbeReport read_report(std::string_view text) {
  ProbeReport report;
  while (!text.empty() && !report.complete) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::vector<std::string> words = words_of(text.substr(0, end));
    text.remove_prefix(end + 1);
    PluginReport& plugin = report.plugin;
    if (words[0] == "plugin" && words.size() == 4) {
      plugin.name = std::move(words[1]);
      plugin.version = std::move(words[2]);
      plugin.stamp = std::move(words[3]);
    } else if (words[0] == "entry" && words.size() == 3) {
      plugin.entries.push_back({std::move(words[1]), std::move(words[2]), {}});
    } else if (words[0] == "option" && words.size() == 5 && !plugin.entries.empty()) {
      plugin.entries.back().options.push_back(
          {std::move(words[1]), std::move(words[2]), std::move(words[3]), std::move(words[4])});
    } else if (words[0] == "refused" && words.size() == 2) {
      plugin.refusal = std::move(words[1]);
    } else if (words[0] == "threw" && words.size() == 3) {
      report.threw = true;
      report.thrown_type = std::move(words[1]);
      report.thrown_text = std::move(words[2]);
    } else if (words[0] == "end") {
      report.complete = true;
    }
  }
  return report;
}

}  // namespace tenon::plugin_host
