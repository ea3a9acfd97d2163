# SPDX-License-Identifier: Apache-2.0
# What every target of the project shares: warnings, sanitizers, the include root.

add_library(l2lens_options INTERFACE)
target_compile_options(l2lens_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
                            -Woverloaded-virtual -Wcast-qual>
  # GCC 12 cries wolf at "literal" + std::string (gcc.gnu.org/PR105651, fixed in 13).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${L2LENS_WERROR}>>:-Werror>)
if(L2LENS_SANITIZE)
  target_compile_options(l2lens_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${L2LENS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(l2lens_options INTERFACE -fsanitize=${L2LENS_SANITIZE})
endif()

# l2lens_library(NAME FILES... DEPENDS targets... PRIVATE_DEPENDS targets...): one library per folder of sim/.
# Dependencies point one way; a folder that reaches upwards does not link.
function(l2lens_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(l2lens_${name} STATIC ${ARG_SOURCES})
  add_library(l2lens::${name} ALIAS l2lens_${name})
  target_include_directories(l2lens_${name} PUBLIC ${PROJECT_SOURCE_DIR}/sim)
  target_link_libraries(l2lens_${name} PUBLIC ${ARG_DEPENDS} PRIVATE l2lens_options ${ARG_PRIVATE_DEPENDS})
endfunction()
