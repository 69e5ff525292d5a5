// SPDX-License-Identifier: Apache-2.0
#include "device/tape/ops.h"

#include "step/ops.h"

/* MR__OP_USER is the program's own code, which is on the host. */
const mr__tape_op_type mr__tape_op_types[MR__OP_KINDS] = {
    [MR__OP_USER] = {0},
    [MR__OP_BRIGHTNESS] = {.lay = mr__tape_lay_color},
    [MR__OP_CONTRAST] = {.lay = mr__tape_lay_color},
    [MR__OP_GAMMA] = {.lay = mr__tape_lay_color},
    [MR__OP_INVERT] = {.lay = mr__tape_lay_color},
    [MR__OP_POSTERIZE] = {.lay = mr__tape_lay_color},
    [MR__OP_SOLARIZE] = {.lay = mr__tape_lay_color},
    [MR__OP_EQUALIZE] = {.lay = mr__tape_lay_color},
    [MR__OP_AUTOCONTRAST] = {.lay = mr__tape_lay_color},
    [MR__OP_SATURATION] = {.lay = mr__tape_lay_color},
    [MR__OP_HUE] = {.lay = mr__tape_lay_color},
    [MR__OP_GRAYSCALE] = {.lay = mr__tape_lay_color},
    [MR__OP_PERMUTE] = {.lay = mr__tape_lay_color},
    [MR__OP_ERASE] = {.lay = mr__tape_lay_erase},
    [MR__OP_NOISE] = {.lay = mr__tape_lay_noise},
    [MR__OP_SHARPNESS] = {.lay = mr__tape_lay_sharpness},
    [MR__OP_BLUR] = {.lay = mr__tape_lay_blur},
    [MR__OP_WARP] = {.lay = mr__tape_lay_warp, .doubles = true},
    [MR__OP_JPEG] = {.lay = mr__tape_lay_jpeg},
    [MR__OP_ELASTIC] = {.lay = mr__tape_lay_elastic},
    [MR__OP_AUGMIX] = {.lay = mr__tape_lay_augmix},
};

bool mr__tape_takes_op(mr__op_kind kind, bool doubles)
{
    return mr__tape_op_types[kind].lay != NULL && (doubles || !mr__tape_op_types[kind].doubles);
}

int mr__tape_op(mr__tape_writer *w, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took, mr__detail *detail)
{
    const mr__tape_op_type *type = &mr__tape_op_types[ops->kind];
    *took = 1;
    if (type->lay == NULL)
        return mr__fail(detail, MR_EUNSUPPORTED, "there is no kernel for %s", mr__op_types[ops->kind]->name);
    return type->lay(w, ops, count, sheet, took, detail);
}
