#include "tenon/plugin.hpp"

#include "gzip_compressor.hpp"

TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
    .name = "compress-gzip",
    .version = "1.0.0",
    .install = [](tenon::Catalog& catalog) { catalog.add<tenon::Compressor, tenon::gzip::GzipCompressor>("gzip"); },
};
