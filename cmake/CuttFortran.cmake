# Whether the Fortran modules are built: cutt_fortran_found, and the language is enabled.
#
#   CUTT_FORTRAN  AUTO: with a Fortran compiler, if one is found that will do. ON: it must. OFF: no modules are built.
#
# The sources are installed in any case, and the CMake package compiles them in the project that uses them, since files of
# modules are of one compiler only. Not under sanitizers, whose run times belong to the C compiler.
set(cutt_fortran_default OFF) # a project that carries cuTT has to ask, and Python's package has no use for them
if(PROJECT_IS_TOP_LEVEL AND NOT SKBUILD)
  set(cutt_fortran_default AUTO)
endif()
set(CUTT_FORTRAN ${cutt_fortran_default} CACHE STRING "Fortran modules: AUTO (when a compiler is found), ON or OFF")
set_property(CACHE CUTT_FORTRAN PROPERTY STRINGS AUTO ON OFF)

set(cutt_fortran_found OFF)
set(cutt_fortran_why "")
if(NOT CUTT_FORTRAN)
  set(cutt_fortran_why "CUTT_FORTRAN is OFF")
elseif(cutt_sanitizers)
  set(cutt_fortran_why "not under sanitizers")
else()
  include(CheckLanguage)
  check_language(Fortran)
  if(NOT CMAKE_Fortran_COMPILER)
    set(cutt_fortran_why "no compiler was found")
  else()
    enable_language(Fortran)
    # What the modules take of Fortran 2018: arrays of any rank, contiguous, and their addresses.
    include(CheckFortranSourceCompiles)
    check_fortran_source_compiles("subroutine probe(a, b, c)
  use, intrinsic :: iso_c_binding
  real(c_double), intent(in), contiguous, target :: a(..)
  type(*), intent(inout), contiguous, target :: b(..)
  type(c_ptr), intent(out) :: c(2)
  c = [c_loc(a), c_loc(b)]
  print *, shape(a, c_int64_t), shape(b, c_int64_t)
end subroutine
program main
end program" CUTT_FORTRAN_HAS_ASSUMED_RANK SRC_EXT f90)
    if(CUTT_FORTRAN_HAS_ASSUMED_RANK)
      set(cutt_fortran_found ON)
    else()
      set(cutt_fortran_why "${CMAKE_Fortran_COMPILER} lacks Fortran 2018's arrays of any rank")
    endif()
  endif()
endif()
if(cutt_fortran_found)
  message(STATUS "Fortran modules: ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
elseif(CUTT_FORTRAN STREQUAL "AUTO" OR NOT CUTT_FORTRAN OR cutt_sanitizers)
  message(STATUS "Fortran modules: none (${cutt_fortran_why})")
else()
  message(FATAL_ERROR "CUTT_FORTRAN is ${CUTT_FORTRAN}, and ${cutt_fortran_why}")
endif()
