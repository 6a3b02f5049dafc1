#pragma once
// Nodes as Motan's servers and clients wrote them.

#include <string>

namespace tenon::zk::sample {

inline const std::string go_server =
    "motan2://127.0.0.1:18110/com.weibo.motan.demo.service.MotanDemoService?group=motan-demo-rpc&"
    "application=server-test&basicService=mybasicService&conf-id=mytest-demo&export=motan2:18110&"
    "filter=accessLog,metrics&nodeType=service&ref=main.MotanDemoService&registry=zk-registry&"
    "serialization=simple&version=1.0";
inline const std::string go_client =
    "motan2://127.0.0.1:0/com.weibo.motan.demo.service.MotanDemoService?group=motan-demo-rpc&"
    "application=client-test&basicRefer=mybasicRefer&conf-id=mytest-demo&filter=accessLog&haStrategy=failover&"
    "loadbalance=random&nodeType=referer&registry=zk-registry&requestTimeout=1000&retries=1&serialization=simple";
inline const std::string java_server =
    "motan2://127.0.0.1:18210/com.weibo.motan.demo.service.MotanDemoService?maxContentLength=1048576&"
    "module=motan-demo-rpc&nodeType=service&accessLog=false&minWorkerThread=2&codec=motan-compatible&"
    "protocol=motan2&application=myMotanDemo&maxWorkerThread=20&shareChannel=true&id=demoMotan&"
    "export=demoMotan%3A18210&maxServerConnection=80000&group=motan-demo-rpc&";
/// What the factory "zookeeper" writes.
inline const std::string java_node = std::string("\xAC\xED\x00\x05t\x01\x62", 7) + java_server;
inline const std::string java_client =
    "motan2://192.0.2.2:0/com.weibo.motan.demo.service.MotanDemoService?module=cm&maxClientConnection=1&"
    "minClientConnection=1&nodeType=service&version=1.0&serialization=simple&protocol=motan2&"
    "application=client-test&id=motan2&requestTimeout=1000&group=motan-demo-rpc&";

}  // namespace tenon::zk::sample
