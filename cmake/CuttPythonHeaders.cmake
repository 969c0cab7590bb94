# Finds Python's headers, for the compiled module of the package: CUTT_PYTHON_INCLUDE, empty when there are none. Those of any
# CPython from 3.9 on will do, whichever version the module is loaded by, since it keeps to the limited API.
include("${CMAKE_CURRENT_LIST_DIR}/CuttFirstPython.cmake")
if(NOT CUTT_PYTHON_INCLUDE)
  find_program(CUTT_PYTHON_ON_PATH python3)
  mark_as_advanced(CUTT_PYTHON_ON_PATH)
  set(program "import os, sys, sysconfig; folder = sysconfig.get_paths()['include']
sys.exit(1) if sys.version_info < (3, 9) or sys.implementation.name != 'cpython' else None
sys.exit(1) if sysconfig.get_config_var('Py_GIL_DISABLED') or not os.path.exists(folder + '/Python.h') else print(folder)")
  cutt_first_python(python found "${program}" "${Python_EXECUTABLE}" "${CUTT_PYTHON}" "${CUTT_PYTHON_ON_PATH}" /usr/bin/python3
                    /usr/local/bin/python3)
  if(found)
    set(CUTT_PYTHON_INCLUDE "${found}" CACHE PATH "Headers of a CPython, for the Python package's compiled module")
    message(STATUS "Python's headers: ${CUTT_PYTHON_INCLUDE}")
  else()
    # Not cached: headers that are installed later are then found.
    set(CUTT_PYTHON_INCLUDE "")
    message(STATUS "Python's headers: none (Debian: python3-dev); the Python package's compiled module is left out")
  endif()
endif()
