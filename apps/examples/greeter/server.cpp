// demo.Greeter as a program of its own: greeter-server --manifest server.yaml
#include "greeter_service.hpp"
#include "tenon/app.hpp"

int main(int argc, char** argv) {
  return tenon::App::main(argc, argv, [](tenon::App& app) { app.provide<demo::GreeterService>(); });
}
