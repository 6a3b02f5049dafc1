// Clients and operators, each method over a real connection.
#include "center_app.hpp"
#include "limits.hpp"

namespace tenon::center {
namespace {

CenterOptions options() { return {}; }

void expect_error(const Error& error, Errc code, std::string_view text) {
  EXPECT_EQ(error.code(), code) << error.text();
  EXPECT_NE(error.text().find(text), std::string::npos) << error.text();
}

TEST(CenterCalls, WhoWatchesSeesWhoComesChangesAndLeaves) {
  const CenterApp center(options());
  const Member provider(center.address(), "host/provider");
  const Member consumer(center.address(), "host/consumer");
  ASSERT_TRUE(provider.open().ok());
  ASSERT_TRUE(consumer.open().ok());
  Stream<List> lists = consumer.watch();
  List list;
  ASSERT_TRUE(*lists.next(list));
  EXPECT_TRUE(list.instances.empty()) << "what is known first: nobody";
  EXPECT_FALSE(list.whole) << "a center that has just started";
  ASSERT_TRUE(provider.announce(instance("a")).ok());
  EXPECT_TRUE(reads_ids(lists, {"a"}));
  ASSERT_TRUE(provider.announce(instance("b")).ok());
  EXPECT_TRUE(reads_ids(lists, {"a", "b"}));
  ASSERT_TRUE(provider.update(instance("b", 7)).ok());
  std::uint64_t revision = 0;
  EXPECT_TRUE(reads<List>(lists, list, [](const List& now) { return now.instances[1].weight == 7; }));
  EXPECT_EQ(list.instances[1], instance("b", 7)) << "everything arrives";
  revision = list.revision;
  ASSERT_TRUE(provider.withdraw("a").ok());
  EXPECT_TRUE(reads<List>(lists, list, [](const List& now) { return now.instances.size() == 1; }));
  EXPECT_EQ(list.withdrawn, std::vector<std::string>{"a"});
  EXPECT_GT(list.revision, revision);
  Stream<List> late = consumer.watch();
  EXPECT_TRUE(reads_ids(late, {"b"}));
  ASSERT_TRUE(provider.close().ok());
  EXPECT_TRUE(reads_ids(lists, {}));
  EXPECT_TRUE(reads_ids(late, {}));
  EXPECT_EQ(consumer.state().subscriptions, 2u);
  ASSERT_TRUE(consumer.close().ok());
  EXPECT_FALSE(end_of(lists)) << "it said so itself: the stream ends well";
  EXPECT_FALSE(end_of(late));
  EXPECT_TRUE(test::eventually([&] { return empty(consumer); }));
  EXPECT_EQ(center.log.count("center-opened: client \"host/provider\""), 1u);
}

TEST(CenterCalls, StreamsThatAreGivenUpAreForgotten) {
  const CenterApp center(options());
  const Member looks(center.address());
  {
    const Member consumer(center.address());
    ASSERT_TRUE(consumer.open().ok());
    List list;
    Document document;
    Stream<List> lists = consumer.watch();
    Stream<Document> documents = consumer.watch_document("command", "blue");
    ASSERT_TRUE(*lists.next(list));
    ASSERT_TRUE(*documents.next(document));
    EXPECT_EQ(looks.state().subscriptions, 2u);
    { const Stream<List> given_up = std::move(lists); }
    EXPECT_TRUE(test::eventually([&] { return looks.state().subscriptions == 1; }));
  }  // and so is who goes without a word
  EXPECT_TRUE(test::eventually([&] { return looks.state().subscriptions == 0; }));
}

TEST(CenterCalls, OnlyWhoWasOpenedIsServed) {
  const CenterApp center(options());
  const Member stranger(center.address());
  expect_error(stranger.beat().error(), Errc::not_found, "open it again");
  expect_error(stranger.announce(instance("a")).error(), Errc::not_found, "open it again");
  Stream<List> lists = stranger.watch();
  expect_error(end_of(lists), Errc::not_found, "open it again");
  Stream<Document> documents = stranger.watch_document("command", "");
  expect_error(end_of(documents), Errc::not_found, "open it again");
}

TEST(CenterCalls, SomebodyElsesInstance) {
  const CenterApp center(options());
  const Member owner(center.address(), "host/owner");
  const Member thief(center.address(), "host/thief");
  ASSERT_TRUE(owner.open().ok());
  ASSERT_TRUE(thief.open().ok());
  ASSERT_TRUE(owner.announce(instance("a")).ok());
  for (const Result<void>& refused :
       {thief.announce(instance("a")), thief.update(instance("a")), thief.withdraw("a")}) {
    ASSERT_FALSE(refused.ok());
    expect_error(refused.error(), Errc::permission_denied, "host/owner");
    EXPECT_EQ(refused.error().text().find(owner.key.secret), std::string::npos);
  }
  EXPECT_EQ(owner.beat()->instances, 1u);
}

TEST(CenterCalls, HostileNamesAndSizes) {
  const CenterApp center(options());
  const Member member(center.address());
  ASSERT_TRUE(member.open().ok());
  for (const std::string& name :
       {std::string("a/b"), std::string(".."), std::string("a\0b", 3), std::string(64 << 10, 'x'), std::string()}) {
    const ServiceName service{name, "", ""};
    EXPECT_EQ(member.announce(instance("a"), service).error().code(), Errc::invalid_argument);
    EXPECT_EQ(member.withdraw("a", service).error().code(), Errc::invalid_argument);
    Stream<List> lists = member.watch(service);
    EXPECT_EQ(end_of(lists).code(), Errc::invalid_argument);
    EXPECT_EQ(member.calls.write(Document{name, "", "", 0}).error().code(), Errc::invalid_argument);
    EXPECT_EQ(member.calls.set_weight(service, "a", 1).error().code(), Errc::invalid_argument);
  }
  Instance large = instance("a");
  large.metadata["k"] = std::string(9000, 'x');
  expect_error(member.announce(large).error(), Errc::invalid_argument, "8192");
  expect_error(member.calls.write(Document{"command", "", std::string((1 << 20) + 1, 'x'), 0}).error(),
               Errc::invalid_argument, "1048576");
  EXPECT_EQ(member.state().instances, 0u);
  EXPECT_EQ(member.state().documents, 0u);
  EXPECT_TRUE(member.announce(instance("a")).ok()) << "and the connection goes on";
}

TEST(CenterCalls, DocumentsAreWrittenReadAndWatched) {
  const CenterApp center(options());
  const Member member(center.address());
  ASSERT_TRUE(member.open().ok());
  Stream<Document> stream = member.watch_document("command", "blue");
  Document document;
  ASSERT_TRUE(*stream.next(document));
  EXPECT_EQ(document.version, 0u);
  EXPECT_EQ(document.kind, "command");
  const std::string text(1 << 20, 'x');
  ASSERT_TRUE(member.calls.write(Document{"command", "blue", text, 0}).ok());
  ASSERT_TRUE(*stream.next(document));
  EXPECT_EQ(document.text, text);
  expect_error(member.calls.write(Document{"command", "blue", "late", 0}).error(), Errc::already_exists,
               "read it again");
  EXPECT_EQ(member.calls.read("command", "blue")->version, document.version);
  EXPECT_EQ(*member.calls.groups(), std::vector<std::string>{"blue"});
  ASSERT_TRUE(member.calls.remove(document).ok());
  ASSERT_TRUE(*stream.next(document));
  EXPECT_EQ(document.version, 0u);
  EXPECT_EQ(document.text, "");
  expect_error(member.calls.remove(document).error(), Errc::not_found, "no command of group \"blue\"");
}

TEST(CenterCalls, OperatorsSeeAndChange) {
  const CenterApp center(options());
  const Member member(center.address(), "host/member");
  ASSERT_TRUE(member.open().ok());
  Stream<List> lists = member.watch();
  ASSERT_TRUE(member.announce(instance("a")).ok());
  ASSERT_TRUE(reads_ids(lists, {"a"}));
  EXPECT_EQ(*member.calls.services(), std::vector<ServiceName>{greeter});
  EXPECT_EQ(*member.calls.subscribers(greeter), (std::vector<Subscriber>{{"shop", "127.0.0.1", false}}));
  ASSERT_TRUE(member.calls.set_weight(greeter, "a", 33).ok());
  ASSERT_TRUE(member.calls.set_serving(greeter, "a", false).ok());
  Instance drained = instance("a", 33);
  drained.serving = false;
  EXPECT_EQ(*member.calls.instances(greeter), std::vector<Instance>{drained});
  List list;
  EXPECT_TRUE(reads<List>(lists, list, [&](const List& now) { return now.instances.at(0) == drained; }));
  ASSERT_TRUE(member.update(instance("a", 50)).ok());
  EXPECT_TRUE(reads<List>(lists, list, [&](const List& now) { return now.instances.at(0) == instance("a", 50); }));
  expect_error(member.calls.set_weight(greeter, "nobody", 1).error(), Errc::not_found, "no instance \"nobody\"");
  const State state = member.state();
  EXPECT_EQ(state.services, 1u);
  EXPECT_EQ(state.instances, 1u);
  EXPECT_EQ(state.clients, 1u);
  EXPECT_EQ(state.subscriptions, 1u);
  EXPECT_FALSE(state.preserving);
  EXPECT_GT(state.revision, state.epoch);
}

TEST(CenterCalls, Tokens) {
  CenterOptions secured;
  secured.token = "all of us";
  secured.operator_token = "only me";
  const CenterApp center(secured);
  const Member member(center.address(), "host/member");
  for (const char* wrong : {"", "all of u", "all of us ", "only me"})
    expect_error(member.open(wrong).error(), Errc::permission_denied, "wrong token");
  ASSERT_TRUE(member.open("all of us").ok());
  ASSERT_TRUE(member.announce(instance("a")).ok()) << "then the key is enough";
  const auto with = [](const char* token) {
    CallOptions call;
    if (token) call.headers.set(token_header, token);
    return call;
  };
  expect_error(member.calls.services().error(), Errc::permission_denied, token_header);
  EXPECT_EQ(member.calls.services.call(with("wrong")).error().code(), Errc::permission_denied);
  EXPECT_TRUE(member.calls.services.call(with("all of us")).ok());
  EXPECT_TRUE(member.calls.services.call(with("only me")).ok());
  const Document document{"command", "blue", "text", 0};
  for (const char* wrong : {static_cast<const char*>(nullptr), "", "all of us", "only m"})
    expect_error(member.calls.write.call(with(wrong), document).error(), Errc::permission_denied, "operator's token");
  EXPECT_EQ(member.calls.set_weight.call(with("all of us"), greeter, "a", 1).error().code(), Errc::permission_denied);
  EXPECT_TRUE(member.calls.write.call(with("only me"), document).ok());
  EXPECT_TRUE(member.calls.set_weight.call(with("only me"), greeter, "a", 1).ok());
  for (const std::string& line : center.log.lines())
    EXPECT_EQ(line.find("only m"), std::string::npos) << "no secret in the log: " << line;
}

TEST(CenterCalls, ACenterThatStopsEndsItsStreams) {
  auto center = std::make_unique<CenterApp>(options());
  const Member member(center->address());
  ASSERT_TRUE(member.open().ok());
  Stream<List> lists = member.watch();
  Stream<Document> documents = member.watch_document("command", "");
  List list;
  Document document;
  ASSERT_TRUE(*lists.next(list));
  ASSERT_TRUE(*documents.next(document));
  EXPECT_TRUE(center->app->stop(seconds(20))) << "a center that drains does not wait for its watchers";
  center.reset();
  EXPECT_EQ(end_of(lists).code(), Errc::unavailable);
  EXPECT_EQ(end_of(documents).code(), Errc::unavailable);
}

TEST(CenterCalls, OptionsOutOfRange) {
  const CenterApp center(options());
  Executor& control = *center.app->executors().front();
  test::RecordingLog log;
  const auto refused = [&](void (*how)(CenterOptions&)) {
    CenterOptions wrong;
    how(wrong);
    auto made = Center::create(wrong, Environment{control, log, control.clock()});
    EXPECT_FALSE(made.ok());
    return made.ok() ? std::string() : made.error().text();
  };
  EXPECT_NE(refused([](CenterOptions& o) { o.lease = milliseconds(1); }).find("lease"), std::string::npos);
  EXPECT_NE(refused([](CenterOptions& o) { o.preserve_percent = 0; }).find("preserve_percent"), std::string::npos);
  EXPECT_NE(refused([](CenterOptions& o) { o.max_list = 1; }).find("max_list"), std::string::npos);
  EXPECT_NE(refused([](CenterOptions& o) { o.max_clients = 0; }).find("max_clients"), std::string::npos);
  EXPECT_NE(refused([](CenterOptions& o) { o.store = "/nowhere/at/all"; }).find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace tenon::center
