// SPDX-License-Identifier: Apache-2.0
/* The bad images that packing kept out. */
#ifndef CLI_QUARANTINE_H
#define CLI_QUARANTINE_H

/* Tells of the first ones that the folder's quarantine.jsonl lists, each with its key and all that is known. */
void quarantine_tell(const char *folder);

#endif
