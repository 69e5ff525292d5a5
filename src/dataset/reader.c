// SPDX-License-Identifier: Apache-2.0
#include "dataset/fetch.h"

#include <errno.h>

struct mr_reader {
    mr_hooks hooks;
    mr_dataset *dataset;
    mr__detail detail;
    mr__fetch fetch;
    mr__buffer buffer;
};

int mr__reader_new(mr_dataset *dataset, const mr_hooks *hooks, mr_reader **out)
{
    mr_reader *reader = mr__alloc_zero(hooks, sizeof *reader);
    if (reader == NULL)
        return MR_ENOMEM;
    reader->hooks = *hooks;
    reader->dataset = dataset;
    *out = reader;
    return 0;
}

int mr_reader_new(mr_dataset *dataset, mr_reader **out)
{
    if (dataset == NULL || out == NULL || !dataset->opened)
        return MR_EARGUMENT;
    return mr__reader_new(dataset, &dataset->hooks, out);
}

void mr_reader_free(mr_reader *reader)
{
    if (reader == NULL)
        return;
    mr_hooks hooks = reader->hooks;
    mr__fetch_fini(&reader->fetch, &reader->dataset->hooks);
    mr__buffer_fini(&reader->buffer, &hooks);
    mr__free(&hooks, reader);
}

const char *mr_reader_detail(const mr_reader *reader)
{
    return reader != NULL ? reader->detail.text : "";
}

/* Reads it into the reader's buffer. */
static mr__fetched read_record(mr_reader *reader)
{
    const mr__fetch *f = &reader->fetch;
    mr__file own = MR__FILE_NONE;
    mr__fetched is = {0};
    if (mr__buffer_reserve(&reader->buffer, &reader->hooks, (size_t)f->nbytes + 1) != 0)
        is.error = ENOMEM;
    else if (f->path != NULL)
        is.error = mr__file_open(&own, f->path);
    if (is.error == 0)
        is.error = mr__file_read(f->path != NULL ? &own : &f->file, f->offset, reader->buffer.bytes, (size_t)f->nbytes,
                                 &is.got);
    is.bytes = reader->buffer.bytes;
    is.file_nbytes = own.nbytes;
    is.file_mtime_ns = own.mtime_ns;
    mr__file_close(&own);
    return is;
}

/* Between the halves of a fetch. A file that was changed in its place is read as it is now. */
static int finish(mr_reader *reader, const void **bytes, size_t *nbytes)
{
    mr__fetched is = read_record(reader);
    if (mr__fetch_renew(&reader->fetch, &is))
        is = read_record(reader);
    return mr__fetch_end(reader->dataset, &reader->fetch, &is, bytes, nbytes, &reader->detail);
}

int mr_reader_record(mr_reader *reader, uint64_t ordinal, uint32_t form, const void **bytes, size_t *nbytes)
{
    if (reader == NULL || bytes == NULL || nbytes == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&reader->detail);
    int result = mr__fetch_begin(reader->dataset, &reader->fetch, ordinal, form, &reader->detail);
    return result == 0 ? finish(reader, bytes, nbytes) : result;
}

int mr_reader_member(mr_reader *reader, uint64_t ordinal, uint32_t number, const void **bytes, size_t *nbytes)
{
    if (reader == NULL || bytes == NULL || nbytes == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&reader->detail);
    int result = mr__fetch_begin_member(reader->dataset, &reader->fetch, ordinal, number, &reader->detail);
    return result == 0 ? finish(reader, bytes, nbytes) : result;
}
