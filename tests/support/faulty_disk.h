// SPDX-License-Identifier: Apache-2.0
/*
 * A disk that fails a call on request, and that loses power. It works on the real file system, so that what is written
 * through it can be read back as usual, and keeps beside it a model of what is stored for good.
 *
 * The model.
 *
 * Contents. What a file held at its last sync is stored. Of what was written, or cut off by create, since then, each
 * sector of 512 bytes (counted from the file's beginning) is, by lot: kept; as it was at the last sync, zeros where the
 * file did not reach then; or garbled, which is 512 random bytes. A sector that was synced in part and written again is
 * one of them: its synced bytes can be garbled. The length is, by lot, any from the shortest to the longest that the
 * file had since its last sync, those two more often than others.
 *
 * Names. create of a file that was not there, rename and remove are changes of a folder (a rename between folders, of
 * both), stored once that folder is synced. Of the others each is done or not done by lot, but one change whole (a
 * rename never leaves both names, or none), and none without the earlier ones of the same names that it builds on: so
 * any order of the independent ones can be met, as in file systems without a journal. The sync of a file does not store
 * its name. A rename can be stored before the contents of what it names. make_folder is stored when it returns.
 *
 * Failed calls. A failed write may have reached the disk in part (`reached`). A failed sync stores nothing, and no
 * later one stores anything of that file until create empties it, though it succeeds: so kernels do. A failed rename,
 * remove, create, make_folder or sync_folder has done nothing. A failed close has closed.
 *
 * What was on the disk before the first call that names it counts as stored. A path is known by its spelling: one file,
 * one spelling. Not in the model: damage to files that nobody wrote to, hard links, folders that are removed or
 * renamed.
 *
 * Threads: any, several at once. init, fini and the looks at the fields alone.
 * Ownership: faulty_disk_fini frees all; who has files open closes them before it, also after a crash.
 * Limits: all that is written is kept in memory.
 */
#ifndef TESTS_SUPPORT_FAULTY_DISK_H
#define TESTS_SUPPORT_FAULTY_DISK_H

#include "base/thread.h"
#include "source/disk.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum faulty_call {
    FAULTY_MAKE_FOLDER,
    FAULTY_CREATE,
    FAULTY_WRITE,
    FAULTY_SYNC,
    FAULTY_CLOSE,
    FAULTY_RENAME,
    FAULTY_SYNC_FOLDER,
    FAULTY_REMOVE,
    FAULTY_CALLS
} faulty_call;

/* What fails. All zero: nothing. */
typedef struct faulty_fault {
    size_t nth; /* from 1, counted over all calls since the fault was set; 0: none */
    int error;
    size_t reached; /* bytes of a failing write that are written all the same */
    bool for_ever;  /* with all calls that come after it */
} faulty_fault;

typedef struct faulty_file faulty_file;
typedef struct faulty_change faulty_change;
typedef struct faulty_name faulty_name;

typedef struct faulty_disk {
    mr__disk disk; /* what is given to the code under test */
    mr__mutex mutex;
    faulty_fault fault;
    size_t calls;              /* since the fault was set */
    size_t each[FAULTY_CALLS]; /* since init */
    bool crashed;
    faulty_file **files;
    size_t file_count;
    faulty_name *names; /* as they are stored, changes apart */
    size_t name_count;
    faulty_change *changes; /* not stored yet, in their order */
    size_t change_count;
} faulty_disk;

void faulty_disk_init(faulty_disk *faulty);
void faulty_disk_fini(faulty_disk *faulty);

/* Sets what fails, and counts calls from 0 again. */
void faulty_disk_fail(faulty_disk *faulty, faulty_fault fault);

/*
 * The power goes: does to the real files what the model allows, as `seed` draws it. From then on every call fails with
 * EIO (close still frees). A power cut in the midst of some work is a fault that lasts for ever, and then this.
 */
void faulty_disk_crash(faulty_disk *faulty, uint64_t seed);

#endif
