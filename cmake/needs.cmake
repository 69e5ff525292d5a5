# What Millrace is built from, looked at before project(): `pip install .` has no other place to say what to install.

# What the library is linked with, by pkg-config names. millrace.pc and the CMake package repeat this list from here.
set(millrace_requires libjpeg libwebp libwebpmux libdeflate zlib liblz4 liburing)
if(NOT SKBUILD)
  return()
endif()

# The things themselves are looked for, for they may come from anywhere; the packages' names are for who lacks one.
set(missing)
separate_arguments(compilers UNIX_COMMAND "$ENV{CC}") # it may have arguments, which are no other compiler
list(APPEND compilers cc)
list(GET compilers 0 compiler)
find_program(NEEDS_CC NAMES ${compiler} gcc clang)
if(NOT NEEDS_CC)
  list(APPEND missing "C compiler")
endif()
find_program(NEEDS_PKG_CONFIG NAMES $ENV{PKG_CONFIG} pkg-config pkgconf)
if(NOT NEEDS_PKG_CONFIG)
  list(APPEND missing pkg-config)
else()
  foreach(module ${millrace_requires} libxxhash)
    execute_process(COMMAND ${NEEDS_PKG_CONFIG} --exists ${module} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(NOT status EQUAL 0)
      list(APPEND missing ${module})
    endif()
  endforeach()
endif()
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('include'), end='')"
  OUTPUT_VARIABLE headers)
if(NOT EXISTS ${headers}/Python.h)
  list(APPEND missing "${headers}/Python.h")
endif()
if(NOT missing)
  return()
endif()

list(JOIN missing ", " missing)
execute_process(COMMAND /bin/sh ${CMAKE_CURRENT_LIST_DIR}/../tools/install-packages --check build python
  RESULT_VARIABLE status OUTPUT_VARIABLE advice ERROR_VARIABLE advice)
if(status EQUAL 0) # another Python than the system's, or another compiler
  set(advice "the packages of this system are all there: look at CC, PKG_CONFIG_PATH and the headers of ${Python3_EXECUTABLE}")
endif()
string(STRIP "${advice}" advice)
string(REPLACE "\n" "\n  " advice "${advice}") # lines that are indented are shown as they are
message(FATAL_ERROR "\n  Millrace cannot be built: there is no ${missing}.\n  ${advice}\n  or, in a clone of the repository: make deps\n")
