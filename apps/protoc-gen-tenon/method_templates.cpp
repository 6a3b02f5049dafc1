#include "method_templates.hpp"

namespace tenon::generator {

namespace {

constexpr MethodTemplates unary{
    .declaration =
        "$comment$"
        "  virtual ::tenon::Task<::tenon::Result<$out$>> $plain$(\n"
        "      const $in$& request, const ::tenon::CallInfo& info);\n"
        "  virtual ::tenon::Task<::tenon::Result<void>> $into$(\n"
        "      const $in$& request, $out$& reply, const ::tenon::CallInfo& info);\n"
        "\n",
    .bodies =
        "::tenon::Task<::tenon::Result<$out$>> $class$::Service::$plain$(\n"
        "    const $in$&, const ::tenon::CallInfo&) {\n"
        "  return ::tenon::ready(::tenon::Result<$out$>(::tenon::Error(\n"
        "      ::tenon::Errc::unimplemented, \"$full_name$ is declared but not implemented by this server\",\n"
        "      ::tenon::Delivery::not_run, ::tenon::Advice::never)));\n"
        "}\n"
        "\n"
        "::tenon::Task<::tenon::Result<void>> $class$::Service::$into$(\n"
        "    const $in$& request, $out$& reply, const ::tenon::CallInfo& info) {\n"
        "  ::tenon::Task<::tenon::Result<$out$>> task = this->$plain$(request, info);\n"
        "  ::tenon::Result<$out$> answer = co_await task;\n"
        "  if (!answer.ok()) co_return ::std::move(answer).error();\n"
        "  reply = ::std::move(*answer);\n"
        "  co_return ::tenon::Result<void>();\n"
        "}\n"
        "\n",
    .dispatch =
        "    case $index$: {\n"
        "      auto handle = [this, info = request.info](const $in$& in, $out$& reply) {\n"
        "        return this->$into$(in, reply, *info);\n"
        "      };\n"
        "      return ::tenon::serve<$in$, $out$>(request, handle);\n"
        "    }\n",
    .client_member =
        "\n"
        "$comment$"
        "  ::tenon::ClientMethod<$in$, $out$> $plain$;\n",
};

constexpr MethodTemplates one_way{
    .declaration =
        "$comment$"
        "  /// One-way: nobody hears of what it returns.\n"
        "  virtual ::tenon::Task<::tenon::Result<void>> $plain$(\n"
        "      const $in$& request, const ::tenon::CallInfo& info);\n"
        "\n",
    .bodies =
        "::tenon::Task<::tenon::Result<void>> $class$::Service::$plain$(\n"
        "    const $in$&, const ::tenon::CallInfo&) {\n"
        "  return ::tenon::ready(::tenon::Result<void>(::tenon::Error(\n"
        "      ::tenon::Errc::unimplemented, \"$full_name$ is declared but not implemented by this server\",\n"
        "      ::tenon::Delivery::not_run, ::tenon::Advice::never)));\n"
        "}\n"
        "\n",
    .dispatch =
        "    case $index$: {\n"
        "      auto handle = [this, info = request.info](const $in$& in, $out$&) {\n"
        "        return this->$plain$(in, *info);\n"
        "      };\n"
        "      return ::tenon::serve<$in$, $out$>(request, handle);\n"
        "    }\n",
    .client_member =
        "\n"
        "$comment$"
        "  /// One-way: it has been sent when this succeeds; nothing tells what became of it.\n"
        "  ::tenon::ClientMethod<$in$, ::tenon::Void> $plain$;\n",
};

constexpr MethodTemplates server_stream{
    .declaration =
        "$comment$"
        "  virtual ::tenon::Task<::tenon::Result<void>> $plain$(\n"
        "      const $in$& request, ::tenon::StreamWriter<$out$>& out, const ::tenon::CallInfo& info);\n"
        "\n",
    .bodies =
        "::tenon::Task<::tenon::Result<void>> $class$::Service::$plain$(\n"
        "    const $in$&, ::tenon::StreamWriter<$out$>&, const ::tenon::CallInfo&) {\n"
        "  return ::tenon::ready(::tenon::Result<void>(::tenon::Error(\n"
        "      ::tenon::Errc::unimplemented, \"$full_name$ is declared but not implemented by this server\",\n"
        "      ::tenon::Delivery::not_run, ::tenon::Advice::never)));\n"
        "}\n"
        "\n",
    .dispatch =
        "    case $index$: {\n"
        "      auto handle = [this, info = request.info](const $in$& in, ::tenon::StreamWriter<$out$>& out) {\n"
        "        return this->$plain$(in, out, *info);\n"
        "      };\n"
        "      return ::tenon::serve_stream<$in$, $out$>(request, handle);\n"
        "    }\n",
    .client_member =
        "\n"
        "$comment$"
        "  ::tenon::ClientStreamMethod<$in$, $out$> $plain$;\n",
};

}  // namespace

const MethodTemplates& method_templates(std::string_view shape) noexcept {
  if (shape == "server_stream") return server_stream;
  return shape == "one_way" ? one_way : unary;
}

}  // namespace tenon::generator
