# cutt::fortran, the modules cutt, cutt_contraction, cutt_dist and what is below them: compiled here, in the project that uses them, from the
# installed sources, since each compiler (and gfortran's versions) writes files of modules of its own.
get_property(cutt_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT "Fortran" IN_LIST cutt_languages)
  set(cutt_fortran_FOUND FALSE)
  set(cutt_NOT_FOUND_MESSAGE "the component fortran needs the language: project(... LANGUAGES Fortran) or enable_language(Fortran)")
  return()
endif()
set(cutt_fortran_FOUND TRUE)
if(TARGET cutt::fortran)
  return()
endif()
add_library(cutt_fortran STATIC
  "${cutt_FORTRAN_DIR}/cutt_raw.f90" "${cutt_FORTRAN_DIR}/cutt.f90" "${cutt_FORTRAN_DIR}/cutt_contraction.f90"
  "${cutt_FORTRAN_DIR}/cutt_elementwise.f90" "${cutt_FORTRAN_DIR}/cutt_reduction.f90"
  "${cutt_FORTRAN_DIR}/cutt_dist_raw.f90" "${cutt_FORTRAN_DIR}/cutt_dist.f90" "${cutt_FORTRAN_DIR}/cutt_dist_mpi.f90")
set_target_properties(cutt_fortran PROPERTIES
  Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/cutt_fortran" POSITION_INDEPENDENT_CODE ON)
target_include_directories(cutt_fortran INTERFACE "${CMAKE_CURRENT_BINARY_DIR}/cutt_fortran")
target_link_libraries(cutt_fortran PUBLIC cutt::contract cutt::dist)
add_library(cutt::fortran ALIAS cutt_fortran)
