#include "conversation.hpp"

#include <thread>
#include <utility>

#include "tenon/scope.hpp"

namespace tenon::test {

namespace {
Task<Result<std::int64_t>> nap(std::int64_t number, std::int64_t milliseconds) {
  Clock& clock = Executor::current()->clock();
  sleep_until pause(clock, clock.now() + std::chrono::milliseconds(milliseconds));
  co_await pause;
  co_return number;
}
}  // namespace

std::shared_ptr<Service> CountedRuns::service() {
  auto service = std::make_shared<Functions>(counted_interface);
  service->add("echo", [this](std::int64_t number, const std::string& text) {
    ++runs_[static_cast<std::size_t>(number) % most_calls];
    return text;
  });
  service->add("nap", [this](std::int64_t number, std::int64_t milliseconds) {
    ++runs_[static_cast<std::size_t>(number) % most_calls];
    return nap(number, milliseconds);
  });
  return service;
}

void Conversation::begin(std::size_t size) {
  CallOutcome& call = *calls_.emplace_back(std::make_unique<CallOutcome>());
  call.number = numbers_++;
  call.sent.assign(size, '\0');
  for (std::size_t i = 0; i < size; ++i) call.sent[i] = static_cast<char>('a' + (i * 7 + i / 251) % 26);
  echo_(call.number, call.sent, [&call](Result<std::string> answer) {
    call.ok = answer.ok();
    if (answer.ok()) {
      call.right = *answer == call.sent;
    } else {
      call.code = answer.error().code();
      call.delivery = answer.error().delivery();
      call.text = answer.error().text();
    }
    ++call.completions;
  });
}

bool Conversation::join(std::chrono::seconds limit) const {
  return eventually(
      [this] {
        for (const auto& call : calls_)
          if (call->completions == 0) return false;
        return true;
      },
      limit);
}

bool Conversation::talk(const std::vector<std::size_t>& sizes) {
  begin(10);
  if (!join()) return false;
  for (const std::size_t size : sizes) begin(size);
  if (!join()) return false;
  begin(20);
  return join();
}

void Conversation::expect_complete() const {
  for (const auto& call : calls_) EXPECT_EQ(call->completions, 1);
}

void Conversation::expect_right() const {
  expect_complete();
  for (const auto& call : calls_)
    if (call->ok) {
      EXPECT_TRUE(call->right) << "a wrong reply to " << call->sent.size() << " bytes";
    }
}

void Conversation::expect_sound(const CountedRuns& counted) const {
  expect_right();
  for (const auto& call : calls_) {
    const int runs = counted.runs(call->number);
    EXPECT_LE(runs, 1);
    if (call->ok) {
      EXPECT_EQ(runs, 1);
      continue;
    }
    EXPECT_NE(call->code, Errc::deadline_exceeded) << call->text;
    if (call->delivery == Delivery::not_run) {
      EXPECT_EQ(runs, 0) << "it ran: " << call->text;
    }
    if (call->delivery == Delivery::ran) {
      EXPECT_EQ(runs, 1) << "it did not run: " << call->text;
    }
  }
}

std::size_t Conversation::good() const {
  std::size_t count = 0;
  for (const auto& call : calls_) count += call->ok ? 1 : 0;
  return count;
}

BuiltIn::BuiltIn(const Plugin& own) {
  if (const Plugin* const* linked = built_in_plugins())
    for (; *linked; ++linked) table_.push_back(*linked);
  table_.push_back(&own);
  table_.push_back(nullptr);
}

void BuiltIn::join(AppOptions& options) const {
  options.plugins.built_in = table_.data();
  options.plugins.load.push_back(table_[table_.size() - 2]->name);
}

AppOptions fault_options(std::string application) {
  AppOptions chosen = options(std::move(application));
  for (const char* plugin : {"protocol-motan2", "protocol-http", "serialize-simple", "compress-gzip"})
    chosen.plugins.load.push_back(plugin);
  return chosen;
}

AppOptions fault_server_options(const Tongue& tongue, const std::string& address) {
  AppOptions chosen = fault_options("server");
  ListenOptions listen;
  listen.address = address;
  listen.protocols = {Component(tongue.protocol)};
  listen.transport = InlineComponent("tcp");
  chosen.server.listen = {listen};
  return chosen;
}

ReferenceOptions fault_reference_options(const Tongue& tongue, const std::string& address) {
  ReferenceOptions reference = reference_options(counted_interface, address);
  reference.protocol = Component(tongue.protocol);
  reference.serializer = Component(tongue.serializer);
  return reference;
}

AppOptions fault_client_options(const Tongue& tongue, const std::string& address) {
  AppOptions chosen = fault_options("client");
  chosen.client.references["r"] = fault_reference_options(tongue, address);
  return chosen;
}

}  // namespace tenon::test
