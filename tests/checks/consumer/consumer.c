// SPDX-License-Identifier: Apache-2.0
/* A program that uses an installed Millrace; the install check builds it in every way, as C and as C++. */
#include <millrace/millrace.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    mr_decoder *decoder = NULL;
    mr_decoder_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    if (mr_decoder_new(&options, &decoder) != MR_OK)
        return 1;

    mr_info info;
    info.struct_size = sizeof info;
    int result = mr_decoder_info(decoder, "hello", 5, &info);
    printf("millrace %s: %s\n", mr_version_text(), mr_error_name(result));
    mr_decoder_free(decoder);
    return mr_version() == MR_VERSION && result != MR_OK ? 0 : 1;
}
