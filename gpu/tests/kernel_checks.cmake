# SPDX-License-Identifier: Apache-2.0
# Each kernel held against its formula, and all beside a copy. Without a GPU they are skipped (exit 77).
if(NOT L2LENS_HAS_CUDA)
  return()
endif()

foreach(check rows_correct stencil_correct attention_correct tfla_correct kernel_speed)
  add_executable(gpu_${check} tests/${check}.cpp)
  target_link_libraries(gpu_${check} PRIVATE l2lens::gpu l2lens_options CUDA::cudart_static)
endforeach()

foreach(check rows_correct stencil_correct attention_correct tfla_correct)
  add_test(NAME gpu_${check} COMMAND gpu_${check})
  set_tests_properties(gpu_${check} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()
