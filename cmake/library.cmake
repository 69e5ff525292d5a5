# libmillrace, static and shared, from everything under src/: a new folder is found without a word here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(MILLRACE_REQUIRES REQUIRED IMPORTED_TARGET ${millrace_requires})
# The same one by one, for tests and benchmarks that want only one of them.
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpmux)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(XXHASH REQUIRED libxxhash) # header only

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)

# Plain loops that are written for the compiler to make vectors of.
file(GLOB loops CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codec/l3/pixel_forward*.c ${PROJECT_SOURCE_DIR}/src/codec/l3/pixel_tile.c
  ${PROJECT_SOURCE_DIR}/src/codec/l3/pixel_split.c)
set_source_files_properties(${loops} PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")

add_library(millrace_objects OBJECT ${sources})
target_include_directories(millrace_objects PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(millrace_objects PRIVATE millrace_flags PUBLIC PkgConfig::MILLRACE_REQUIRES Threads::Threads m)

set(version_script ${PROJECT_SOURCE_DIR}/cmake/millrace.map)
add_library(millrace_shared SHARED $<TARGET_OBJECTS:millrace_objects>)
add_library(millrace_static STATIC $<TARGET_OBJECTS:millrace_objects>)
add_library(millrace::millrace ALIAS millrace_shared)
add_library(millrace::static ALIAS millrace_static)
foreach(library millrace_shared millrace_static)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME millrace
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:millrace_flags> PkgConfig::MILLRACE_REQUIRES Threads::Threads m)
endforeach()
# Before 1.0 a minor version may change the ABI, so the SONAME carries it: libmillrace.so.0.1.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
else()
  set(soversion ${PROJECT_VERSION_MAJOR})
endif()
set_target_properties(millrace_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion} LINK_DEPENDS ${version_script})
target_link_options(millrace_shared PRIVATE -Wl,--version-script=${version_script} -Wl,--no-undefined)
if(MILLRACE_SANITIZE)
  set_target_properties(millrace_shared PROPERTIES LINK_FLAGS "-Wl,-z,undefs")
endif()
