# SPDX-License-Identifier: Apache-2.0
# Run by the build with -D...: the page's parts into one C++ source.
foreach(part CSS THEME CHART BUNDLE)
  set(L2LENS_${part} "")
  if(${part}_FILE)
    file(READ "${${part}_FILE}" L2LENS_${part})
  endif()
endforeach()
set(L2LENS_MISSING "${MISSING}")
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
