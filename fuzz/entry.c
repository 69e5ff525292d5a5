// SPDX-License-Identifier: Apache-2.0
/* What libFuzzer calls. The build compiles this once a target: FUZZ_CHECK is its check, FUZZ_FORM its form. */
#include "check/check.h"

#ifdef FUZZ_WRAP
#include "wrap.h"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    fuzz_setting setting = fuzz_setting_small();
#ifdef FUZZ_WRAP
    setting.arm = fuzz_wrap_arm;
#endif
    FUZZ_CHECK(&setting, FUZZ_FORM, bytes, nbytes);
    return 0;
}
