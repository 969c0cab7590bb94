# cutt_first_python(PYTHON OUTPUT CODE CANDIDATE...): the first of some programs that is a Python in which CODE ends well, and what
# that prints; both empty when there is none.
function(cutt_first_python python output code)
  foreach(candidate IN LISTS ARGN)
    if(NOT EXISTS "${candidate}")
      continue()
    endif()
    execute_process(COMMAND "${candidate}" -c "${code}" RESULT_VARIABLE failed OUTPUT_VARIABLE printed ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(${python} "${candidate}" PARENT_SCOPE)
      set(${output} "${printed}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${python} "" PARENT_SCOPE)
  set(${output} "" PARENT_SCOPE)
endfunction()
