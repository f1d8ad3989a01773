# Turns a file into an array of characters: a string literal that long is beyond what compilers must accept.
# -DINPUT= -DOUTPUT= -DHEADER= (that declares the function) -DNAMESPACE= -DFUNCTION=
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',))" "\\1\n"
  bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

constexpr char kText[] = {
${bytes}
};

}  // namespace

std::string_view ${FUNCTION}() {
  return {kText, sizeof(kText)};
}

}  // namespace ${NAMESPACE}
")
