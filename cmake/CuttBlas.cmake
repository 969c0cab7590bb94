# The BLAS of the processor: where it is on the machine that builds, as a hint. Nothing is linked and no header is used: the
# library looks for one when it runs, here first but for what is in the process already (src/blas/find.c).
#
# CUTT_CBLAS_LIBRARY: the path of a library with the CBLAS interface. Left alone, it is searched for; "" or OFF: no hint.
file(GLOB cutt_blas_folders LIST_DIRECTORIES true
     /usr/lib/*/openblas-openmp /usr/lib/*/openblas-pthread /usr/lib/*/blis-openmp /usr/lib/*/blis-pthread
     /usr/lib/*/openblas-serial)
find_library(CUTT_CBLAS_LIBRARY
  NAMES openblas libopenblas.so.0 openblasp blis libblis.so.4 libblis.so.5 mkl_rt libmkl_rt.so.2 flexiblas libflexiblas.so.3
  HINTS ${cutt_blas_folders} "$ENV{MKLROOT}/lib" "$ENV{MKLROOT}/lib/intel64"
  DOC "A library with the CBLAS interface, to be loaded when contractions run")
mark_as_advanced(CUTT_CBLAS_LIBRARY)
set(CUTT_CBLAS_LIBRARY_USED "")
if(CUTT_CBLAS_LIBRARY)
  set(CUTT_CBLAS_LIBRARY_USED "${CUTT_CBLAS_LIBRARY}")
  message(STATUS "BLAS, looked for when contractions run: ${CUTT_CBLAS_LIBRARY}")
else()
  message(STATUS "BLAS: none is here (Debian: libopenblas0-openmp); contractions will look for one when they run")
endif()
