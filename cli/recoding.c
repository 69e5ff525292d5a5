// SPDX-License-Identifier: Apache-2.0
#include "recoding.h"
#include "json.h"
#include "text.h"

#include <inttypes.h>

/* Remarks go to standard error: standard output may be the image. */
void tell_pixels(const recoding *r, const char *why)
{
    bool loses = r->to == MR_FORM_JPEG;
    const char *sign = why[0] == '\0' ? "" : loses ? ": " : ", because ";
    remark(r->name, "made from pixels%s%s%s; %zu bytes for %zu of %s", loses ? ", and jpeg loses" : "", sign, why,
           r->to_nbytes, r->from_nbytes, mr_form_name(r->from));
}

static void tell_l3(const recoding *r, const mr_recode_report *report)
{
    const char *why = report->why, *sign = why[0] != '\0' ? ": " : "";
    if (report->has_origin)
        remark(r->name,
               "exact, the same coefficients, and the very JPEG comes back from it; %zu bytes for %zu of %s, %" PRIu64
               " without the origin",
               r->to_nbytes, r->from_nbytes, mr_form_name(r->from), r->to_nbytes - report->origin_nbytes);
    else
        remark(r->name, "exact, the same coefficients; %zu bytes for %zu of %s, without an origin%s%s", r->to_nbytes,
               r->from_nbytes, mr_form_name(r->from), sign, why);
}

void tell_direct(const recoding *r, const mr_recode_report *report)
{
    const char *why = report->why, *sign = why[0] != '\0' ? ": " : "";
    if (r->to == MR_FORM_L3)
        tell_l3(r, report);
    else if (report->has_origin)
        remark(r->name, "exact, the very file that the l3 was made from; %zu bytes", r->to_nbytes);
    else
        remark(r->name, "exact, the same coefficients, but not the very file%s%s; %zu bytes for %zu of %s", sign, why,
               r->to_nbytes, r->from_nbytes, mr_form_name(r->from));
}

void put_recoding(const recoding *r, const mr_recode_report *report)
{
    json j = {.stream = stdout};
    json_open(&j, NULL, '{');
    json_name(&j, r->name);
    json_text(&j, "form", mr_form_name(r->to));
    json_number(&j, "bytes", r->to_nbytes);
    json_bool(&j, "exact", report->exact);
    json_bool(&j, "has_origin", report->has_origin);
    json_number(&j, "origin_nbytes", report->origin_nbytes);
    json_text(&j, "why", report->why);
    json_close(&j, '}');
    fputs("\n", stdout);
}
