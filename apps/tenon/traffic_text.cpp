#include "traffic_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "table.hpp"

namespace tenon::cli {

namespace {

constexpr std::size_t most_clients = 5;
constexpr std::size_t most_subscribers = 10;
constexpr int bar_width = 20;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all.empty() ? "-" : all;
}

std::string percent(int tenth) { return std::to_string(tenth / 10) + "." + std::to_string(tenth % 10) + "%"; }

std::string bar(int tenth) {
  const int full = (tenth * bar_width + 500) / 1000;
  return std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(bar_width - full), '.');
}

std::string clients_text(const std::vector<std::string>& clients) {
  std::string text = clients.size() == 1 ? "client " : "clients ";
  for (std::size_t i = 0; i < std::min(clients.size(), most_clients); ++i)
    text += (i == 0 ? "" : ", ") + (clients[i].empty() ? std::string("of no known address") : clients[i]);
  if (clients.size() > most_clients) text += " and " + std::to_string(clients.size() - most_clients) + " more";
  return text;
}

/// An instance of either side.
struct Row {
  Instance instance;
  double now = 0;
  double then = 0;
};
std::vector<Row> rows_of(const Preview& preview) {
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  const auto add = [&](const Shares& shares, double Row::*column) {
    for (const InstanceShare& each : shares.instances) {
      const auto [place, is_new] = places.try_emplace({each.instance.group, each.instance.id}, rows.size());
      if (is_new) rows.push_back({each.instance, 0, 0});
      rows[place->second].*column = each.share;
    }
  };
  add(preview.now, &Row::now);
  add(preview.then, &Row::then);
  return rows;
}

std::vector<int> column(const std::vector<Row>& rows, double Row::*which) {
  std::vector<double> shares;
  for (const Row& row : rows) shares.push_back(row.*which);
  return tenths(shares);
}

std::string state_of(const Instance& instance) { return instance.serving ? "serving" : "offline"; }

}  // namespace

std::vector<int> tenths(const std::vector<double>& shares) {
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int> parts(shares.size());
  if (total <= 0) return parts;
  std::vector<std::pair<double, std::size_t>> rests;  // the largest are rounded up
  int left = 1000;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = shares[i] / total * 1000;
    parts[i] = static_cast<int>(exact + 1e-6);
    left -= parts[i];
    rests.emplace_back(parts[i] - exact, i);
  }
  std::sort(rests.begin(), rests.end(), [](const auto& a, const auto& b) {
    return std::abs(a.first - b.first) < 1e-6 ? a.second < b.second : a.first < b.first;
  });
  for (int i = 0; i < left; ++i) ++parts[rests[static_cast<std::size_t>(i) % rests.size()].second];
  return parts;
}

std::string entries_text(const std::vector<CommandEntry>& entries) {
  if (entries.empty()) return {};
  Table table({">ENTRY", ">INDEX", "PATTERN", "GROUPS", "RULES", "REMARK"});
  for (const CommandEntry& entry : entries)
    table.row({std::to_string(entry.position), entry.index ? std::to_string(*entry.index) : "-", entry.pattern,
               joined(entry.merge_groups), joined(entry.route_rules), entry.remark});
  return table.text();
}

std::string preview_text(const Preview& preview, Columns columns) {
  const bool both = columns == Columns::now_and_then;
  std::string text = preview.service.text() + ", " + clients_text(preview.clients) + '\n';
  for (const auto& [name, shares] : {std::pair("now", &preview.now), std::pair("then", &preview.then)})
    if (!shares->trouble.empty() && (both || shares == &preview.now))
      text += std::string("  ") + name + ": " + shares->trouble + '\n';
  const std::vector<Row> rows = rows_of(preview);
  if (rows.empty()) return text + "  no instances\n";
  const std::vector<int> now = column(rows, &Row::now);
  const std::vector<int> then = column(rows, &Row::then);
  std::vector<std::string> headings{"GROUP", "INSTANCE", "STATE", ">WEIGHT", ">NOW"};
  if (both) headings.emplace_back(">THEN");
  headings.emplace_back("");
  Table table(std::move(headings));
  const auto add = [&](const Instance& instance, const std::string& state, const std::string& weight, int a, int b) {
    std::vector<std::string> cells{instance.group, instance.address, state, weight, percent(a)};
    if (both) cells.push_back(percent(b));
    cells.push_back(bar(both ? b : a));
    table.row(std::move(cells));
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Instance& instance = rows[i].instance;
    add(instance, state_of(instance), std::to_string(instance.weight), now[i], then[i]);
  }
  Instance all;
  all.group = "all";
  add(all, "", "", std::accumulate(now.begin(), now.end(), 0), std::accumulate(then.begin(), then.end(), 0));
  return text + table.text();
}

std::string preview_json(const Preview& preview, Columns columns) {
  const bool both = columns == Columns::now_and_then;
  std::string json = "{\"service\":" + json_text(preview.service.text()) + ",\"clients\":[";
  for (std::size_t i = 0; i < preview.clients.size(); ++i) json += (i == 0 ? "" : ",") + json_text(preview.clients[i]);
  json += "]";
  if (!preview.now.trouble.empty()) json += ",\"now_trouble\":" + json_text(preview.now.trouble);
  if (both && !preview.then.trouble.empty()) json += ",\"then_trouble\":" + json_text(preview.then.trouble);
  json += ",\"instances\":[";
  const std::vector<Row> rows = rows_of(preview);
  const std::vector<int> now = column(rows, &Row::now);
  const std::vector<int> then = column(rows, &Row::then);
  const auto number = [](int tenth) { return std::to_string(tenth / 10) + "." + std::to_string(tenth % 10); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Instance& instance = rows[i].instance;
    json += std::string(i == 0 ? "" : ",") + "{\"group\":" + json_text(instance.group) +
            ",\"id\":" + json_text(instance.id) + ",\"address\":" + json_text(instance.address) +
            ",\"weight\":" + std::to_string(instance.weight) + ",\"serving\":" + (instance.serving ? "true" : "false") +
            ",\"now_percent\":" + number(now[i]) + (both ? ",\"then_percent\":" + number(then[i]) : "") + "}";
  }
  return json + "]}";
}

std::string names_of(const std::vector<Subscriber>& subscribers) {
  std::vector<std::string> names;
  for (const Subscriber& each : subscribers)
    names.push_back(each.address.empty() || each.address == each.name ? each.name
                                                                      : each.name + " (" + each.address + ")");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_subscribers); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_subscribers) text += " and " + std::to_string(names.size() - most_subscribers) + " more";
  return text;
}

}  // namespace tenon::cli
