// SPDX-License-Identifier: Apache-2.0
#include <millrace/millrace.h>
#include <stdio.h>

int main(void)
{
    printf("millrace %s\n", mr_version_text());
    return 0;
}
