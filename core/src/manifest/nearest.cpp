#include "manifest/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace tenon {

namespace {
constexpr std::size_t longest = 64;

char folded(char c) noexcept {
  if (c == '-') return '_';
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Edits with adjacent transpositions counted once ("optimal string alignment").
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = folded(a[i - 1]) == folded(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}
}  // namespace

std::string_view nearest(std::string_view wanted, std::span<const std::string_view> candidates) {
  if (wanted.empty() || wanted.size() > longest) return {};
  const std::size_t allowed = std::clamp<std::size_t>(wanted.size() / 3, 1, 3);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest) continue;
    const bool extended = std::min(wanted.size(), candidate.size()) >= 3 &&
                          (wanted.starts_with(candidate) || candidate.starts_with(wanted));
    const std::size_t d = extended ? 1 : distance(wanted, candidate);
    if (d < best_distance && d < std::max(wanted.size(), candidate.size())) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates) {
  const std::string_view found = nearest(wanted, candidates);
  return found.empty() ? std::string() : ", did you mean \"" + std::string(found) + "\"?";
}

std::string listed(std::vector<std::string_view> names) {
  if (names.empty()) return "none";
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace tenon
