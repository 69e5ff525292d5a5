// SPDX-License-Identifier: Apache-2.0
/* A program that uses an installed Millrace; the install check builds it in every way, as C and as C++. */
#include <millrace/millrace.h>
#include <stdio.h>
#include <string.h>

/* A dataset that is not there, an annotation that is: the headers as C and C++ meet them. */
static int others(void)
{
    mr_dataset *dataset = NULL;
    mr_annotation *annotation = NULL;
    mr_annotation_view view;
    mr_dataset_options options;
    const char *path = "nowhere-{0..3}.tar";
    memset(&options, 0, sizeof options);
    memset(&view, 0, sizeof view);
    options.struct_size = sizeof options;
    options.index = MR_INDEX_NONE;
    view.struct_size = sizeof view;
    if (mr_dataset_new(&options, &dataset) != MR_OK || mr_annotation_new(NULL, &annotation) != MR_OK)
        return 1;
    int opened = mr_dataset_open(dataset, &path, 1);
    int read = mr_annotation_read(annotation, "[{\"bbox\": [1, 2, 3, 4]}]", 24, &view);
    int good = opened == MR_EIO && strstr(mr_dataset_detail(dataset), "nowhere-0.tar") != NULL && read == MR_OK &&
               view.count == 1 && view.boxes[2] == 3;
    mr_annotation_free(annotation);
    mr_dataset_free(dataset);
    return good ? 0 : 1;
}

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
    return mr_version() == MR_VERSION && result != MR_OK ? others() : 1;
}
