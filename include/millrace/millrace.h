// SPDX-License-Identifier: Apache-2.0
/*
 * Millrace: stored images into training batches, with every processor that can help.
 *
 * Results are 0 or a negative MR_E... code. Out-parameters are written on success only. Option structs start with
 * struct_size, which the caller sets to sizeof; zero is the default of every field. A pointer may be NULL only where
 * its comment says so; the handles answer a NULL with MR_EARGUMENT all the same.
 */
#ifndef MILLRACE_H
#define MILLRACE_H

#include <millrace/annotation.h>
#include <millrace/codec.h>
#include <millrace/dataset.h>
#include <millrace/device.h>
#include <millrace/error.h>
#include <millrace/hooks.h>
#include <millrace/image.h>
#include <millrace/loader.h>
#include <millrace/pack.h>
#include <millrace/recipe.h>
#include <millrace/resize.h>
#include <millrace/system.h>
#include <millrace/version.h>

#endif
