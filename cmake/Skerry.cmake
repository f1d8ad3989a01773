# One target per folder: skerry_library(NAME SOURCES … DEPENDS …), with its tests beside it.

add_library(skerry_options INTERFACE)
target_include_directories(skerry_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(skerry_options INTERFACE _GNU_SOURCE)
target_compile_options(skerry_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
  -Wno-missing-field-initializers)  # members have defaults; naming only what differs is the point
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # -O3 costs a newcomer's first build time, and makes nothing that skerry bench measures faster.
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
  target_compile_options(skerry_options INTERFACE
    -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(skerry_options INTERFACE -fcf-protection=full)
  endif()
  target_link_options(skerry_options INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()

# Sanitizers need a dynamic executable and catch nothing in a process that is pid 1 of an empty root, so the two static
# programs stay without them; everything they are made of is tested with them through the unit tests.
add_library(skerry_sanitizer INTERFACE)
if(SKERRY_SANITIZER)
  target_compile_options(skerry_sanitizer INTERFACE
    -fsanitize=${SKERRY_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(skerry_sanitizer INTERFACE -fsanitize=${SKERRY_SANITIZER})
endif()

# Headers that most of our files include, compiled once for all of them: skerry_precompiled for libraries,
# skerry_precompiled_json for those that link JSON, skerry_precompiled_domain for those that link core too,
# skerry_precompiled_asio for those that link Beast and no JSON, skerry_precompiled_tests. A file still includes what it uses; the gcc preset compiles without, and finds what is missing.
set(precompiled ${CMAKE_SOURCE_DIR}/cmake/precompiled)
function(skerry_precompile name header)
  target_link_libraries(${name} PRIVATE skerry_options skerry_sanitizer ${ARGN})
  target_precompile_headers(${name} PRIVATE ${precompiled}/${header})
  # The same bytes each time it is made, and a checksum beside it, so that a compiler cache knows it again.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${precompiled}/compile.sh;${CMAKE_CXX_COMPILER_LAUNCHER}")
endfunction()
set(SKERRY_PRECOMPILED OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(SKERRY_PRECOMPILED ON)
  # Without the name of the header, which CMake adds: ccache takes each clone's for another one.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  add_library(skerry_precompiled OBJECT ${precompiled}/empty.cpp)
  skerry_precompile(skerry_precompiled standard.hpp)
  add_library(skerry_precompiled_json OBJECT ${precompiled}/empty.cpp)
  skerry_precompile(skerry_precompiled_json json.hpp nlohmann_json::nlohmann_json)
  add_library(skerry_precompiled_domain OBJECT ${precompiled}/empty.cpp)
  skerry_precompile(skerry_precompiled_domain domain.hpp nlohmann_json::nlohmann_json)
  add_library(skerry_precompiled_asio OBJECT ${precompiled}/empty.cpp)
  skerry_precompile(skerry_precompiled_asio asio.hpp beast)
  if(SKERRY_BUILD_TESTS)
    # An executable, as those that use it: code for executables and for libraries is not the same.
    add_executable(skerry_precompiled_tests ${precompiled}/empty.cpp)
    skerry_precompile(skerry_precompiled_tests tests.hpp nlohmann_json::nlohmann_json GTest::gmock)
  endif()
endif()

function(skerry_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(skerry_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(skerry_${name} PUBLIC skerry_options skerry_sanitizer ${ARG_DEPENDS})
  if(SKERRY_PRECOMPILED AND nlohmann_json::nlohmann_json IN_LIST ARG_DEPENDS AND skerry_core IN_LIST ARG_DEPENDS)
    target_precompile_headers(skerry_${name} REUSE_FROM skerry_precompiled_domain)
  elseif(SKERRY_PRECOMPILED AND nlohmann_json::nlohmann_json IN_LIST ARG_DEPENDS)
    target_precompile_headers(skerry_${name} REUSE_FROM skerry_precompiled_json)
  elseif(SKERRY_PRECOMPILED AND beast IN_LIST ARG_DEPENDS)
    target_precompile_headers(skerry_${name} REUSE_FROM skerry_precompiled_asio)
  elseif(SKERRY_PRECOMPILED)
    target_precompile_headers(skerry_${name} REUSE_FROM skerry_precompiled)
  endif()
endfunction()

# skerry_plain_library(NAME OF NAME SOURCES … DEPENDS …): sources of that library without sanitizers, for the static
# programs and the library that interpreters load. Where there are no sanitizers it is that library.
function(skerry_plain_library name)
  cmake_parse_arguments(ARG "" "OF" "SOURCES;DEPENDS" ${ARGN})
  if(NOT SKERRY_SANITIZER)
    add_library(skerry_${name} ALIAS skerry_${ARG_OF})
    return()
  endif()
  add_library(skerry_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(skerry_${name} PUBLIC skerry_options ${ARG_DEPENDS})
endfunction()

# skerry_test(NAME SOURCES … DEPENDS …): one GoogleTest executable, each test known to ctest by its own name.
function(skerry_test name)
  if(NOT SKERRY_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(SKERRY_SANITIZER)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)  # tests/support
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} skerry_sanitizer GTest::gmock GTest::gtest_main)
  if(SKERRY_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM skerry_precompiled_tests)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# skerry_embed_texts(OUTPUT NAMESPACE NAME FILE [NAME FILE]…): a source file that defines each NAME as a string_view of FILE.
function(skerry_embed_texts output namespace)
  set(code "#include <string_view>\n\nnamespace ${namespace} {\n")
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  foreach(at RANGE 0 ${last} 2)
    math(EXPR next "${at} + 1")
    list(GET ARGN ${at} name)
    list(GET ARGN ${next} file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} text)
    string(APPEND code "extern const std::string_view ${name};\nconst std::string_view ${name} = R\"skerry(${text})skerry\";\n")
  endforeach()
  string(APPEND code "}  // namespace ${namespace}\n")
  file(GENERATE OUTPUT ${output} CONTENT "${code}")
endfunction()
