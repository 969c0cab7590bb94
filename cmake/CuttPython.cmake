# Finds a Python 3 that imports NumPy, for the tests that compare with it: CUTT_PYTHON, empty when there is none.
#
# Not CMake's own FindPython3: the first python3 on PATH may well be one without NumPy while the system's has it.
include("${CMAKE_CURRENT_LIST_DIR}/CuttFirstPython.cmake")
if(NOT DEFINED CUTT_PYTHON)
  find_program(CUTT_PYTHON_ON_PATH python3)
  mark_as_advanced(CUTT_PYTHON_ON_PATH)
  cutt_first_python(found printed "import numpy" "${CUTT_PYTHON_ON_PATH}" /usr/bin/python3 /usr/local/bin/python3)
  if(found)
    set(CUTT_PYTHON "${found}" CACHE FILEPATH "A Python 3 that imports NumPy, for the tests of the program")
    message(STATUS "Python with NumPy: ${CUTT_PYTHON}")
  else()
    # Not cached: a NumPy that is installed later is then found.
    set(CUTT_PYTHON "")
    message(WARNING "No Python 3 that imports NumPy: the tests that compare with it are left out. "
                    "Install python3-numpy, or give -DCUTT_PYTHON=/path/to/python3.")
  endif()
endif()
