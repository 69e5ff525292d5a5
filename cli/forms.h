// SPDX-License-Identifier: Apache-2.0
/* What --forms of pack says: jpeg,l3,raw:short-side=256,l3:share=30%. */
#ifndef CLI_FORMS_H
#define CLI_FORMS_H

#include "command.h"

enum { FORMS_MAX = 16 };

/*
 * NAME[:max-side=N][:short-side=N][:share=P%][:quality=N][:effort=N], several with commas between. --max-side and
 * --short-side are for all that have no side of their own. False after a word on what is wrong.
 */
bool forms_read(const settings *s, mr_pack_form forms[FORMS_MAX], size_t *count);

#endif
