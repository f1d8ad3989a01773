# Turns the schema into an array of characters: a string literal that long is beyond what compilers must accept.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',))" "\\1\n"
  bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"config/schema_text.hpp\"

namespace skerry::config {
namespace {

constexpr char kSchemaText[] = {
${bytes}
};

}  // namespace

std::string_view SchemaText() {
  return {kSchemaText, sizeof(kSchemaText)};
}

}  // namespace skerry::config
")
