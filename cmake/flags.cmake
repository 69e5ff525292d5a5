# How everything here is compiled. -ffp-contract=off: the same bytes on every processor is a promise of the house.
add_library(millrace_flags INTERFACE)
target_compile_options(millrace_flags INTERFACE -ffp-contract=off
  -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings)
if(MILLRACE_WERROR)
  target_compile_options(millrace_flags INTERFACE -Werror)
endif()
# Input is hostile: what the compiler and the linker can do cheaply against a mistake of ours, they do.
set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
if(NOT MILLRACE_SANITIZE AND NOT MILLRACE_FUZZ)
  target_compile_options(millrace_flags INTERFACE -fstack-protector-strong "$<${optimised}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  target_link_options(millrace_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
if(MILLRACE_SANITIZE)
  target_compile_options(millrace_flags INTERFACE -fsanitize=${MILLRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(millrace_flags INTERFACE -fsanitize=${MILLRACE_SANITIZE})
endif()
