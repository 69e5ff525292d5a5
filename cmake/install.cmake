# What `make install` puts where. The test `install` proves that programs find and use it.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)

set_target_properties(millrace_shared PROPERTIES EXPORT_NAME millrace)
set_target_properties(millrace_static PROPERTIES EXPORT_NAME static)
# Two sets, because only the static library needs the development files of what it is linked with.
install(TARGETS millrace_shared EXPORT millrace_shared)
install(TARGETS millrace_static EXPORT millrace_static)
install(TARGETS millrace)
install(DIRECTORY include/millrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

install(EXPORT millrace_shared NAMESPACE millrace:: FILE millrace-shared.cmake DESTINATION ${package_dir})
install(EXPORT millrace_static NAMESPACE millrace:: FILE millrace-static.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/millrace-config.cmake.in cmake/millrace-config.cmake INSTALL_DESTINATION ${package_dir})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(cmake/millrace-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/cmake/millrace-config.cmake ${PROJECT_BINARY_DIR}/cmake/millrace-config-version.cmake
  DESTINATION ${package_dir})

list(JOIN millrace_requires " " pc_requires)
# Paths relative to the .pc file, so that a tree that was moved (or staged under DESTDIR) still works.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/millrace.pc.in millrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/millrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/millrace.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
set(completions ${PROJECT_BINARY_DIR}/completions)
install(FILES ${completions}/millrace.bash RENAME millrace DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(FILES ${completions}/_millrace DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${completions}/millrace.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
