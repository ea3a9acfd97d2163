# SPDX-License-Identifier: Apache-2.0
# The page of a report: TypeScript bundled by Debian's esbuild, and Chart.js from Debian's libjs-chart.js, both
# embedded into the program. Without them all else is built, and `l2lens report` says what to install.
find_program(L2LENS_ESBUILD esbuild DOC "Bundles sim/report/web (Debian: esbuild)")
find_file(L2LENS_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH
  DOC "Chart.js 3 (Debian: libjs-chart.js)")

set(web ${CMAKE_CURRENT_SOURCE_DIR}/web)
set(missing "")
if(NOT L2LENS_ESBUILD)
  list(APPEND missing esbuild)
endif()
if(NOT L2LENS_CHART_JS)
  list(APPEND missing libjs-chart.js)
endif()
list(JOIN missing " " missing)

set(web_assets_cpp ${CMAKE_CURRENT_BINARY_DIR}/generated/web_assets.cpp)
set(parts CSS_FILE=${web}/page.css THEME_FILE=${web}/theme.js)
if(missing)
  message(STATUS "l2lens report will not draw: not found ${missing}")
  set(scripts "")
else()
  set(bundle ${CMAKE_CURRENT_BINARY_DIR}/generated/report.js)
  file(GLOB typescript CONFIGURE_DEPENDS ${web}/*.ts)
  # Browsers of 2021 on: what Chart.js 3 wants, too.
  add_custom_command(OUTPUT ${bundle} DEPENDS ${typescript} VERBATIM
    COMMENT "Bundling the report's page"
    COMMAND ${L2LENS_ESBUILD} ${web}/report.ts --bundle --minify --target=es2020 --charset=utf8 --format=iife
            --log-level=warning --outfile=${bundle})
  list(APPEND parts CHART_FILE=${L2LENS_CHART_JS} BUNDLE_FILE=${bundle})
  set(scripts ${bundle} ${L2LENS_CHART_JS})
endif()
list(TRANSFORM parts PREPEND -D)
add_custom_command(OUTPUT ${web_assets_cpp} VERBATIM
  DEPENDS ${web}/page.css ${web}/theme.js ${scripts} embed.cmake web_assets.cpp.in
  COMMENT "Embedding the report's page"
  COMMAND ${CMAKE_COMMAND} ${parts} "-DMISSING=${missing}" -DTEMPLATE=${CMAKE_CURRENT_SOURCE_DIR}/web_assets.cpp.in
          -DOUTPUT=${web_assets_cpp} -P ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake)
