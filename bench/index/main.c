// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "index.h"

#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: index [OPTION...]\n"
                  "  --samples N   in the index [1280000]; 88 bytes each on the disk\n"
                  "  --reads N     random records [1000000]\n"
                  "  --finds N     random keys [100000]\n"
                  "  --cold N      of both, after the file's pages were dropped [1000]\n"
                  "  --random      with MADV_RANDOM, which the library does not ask for\n"
                  "  --check       every byte, by mr__index_check, first\n"
                  "  --folder DIR  for the file [$TMPDIR, /tmp]; --keep: it stays, and is used when it is there\n"
                  "  --seed N      [1]\n"
                  "  --json        a JSON object instead of text\n");
}

static bool parse_number(options *o, const char *name, const char *value)
{
    uint64_t *to = strcmp(name, "--samples") == 0 ? &o->samples
                   : strcmp(name, "--reads") == 0 ? &o->reads
                   : strcmp(name, "--finds") == 0 ? &o->finds
                   : strcmp(name, "--cold") == 0  ? &o->cold
                   : strcmp(name, "--seed") == 0  ? &o->seed
                                                  : NULL;
    if (to != NULL)
        *to = number_from_text(value, to == &o->samples, to == &o->seed ? UINT64_MAX : 999999999);
    return to != NULL;
}

static void parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--json") == 0) {
            o->json = true;
        } else if (strcmp(name, "--keep") == 0) {
            o->keep = true;
        } else if (strcmp(name, "--check") == 0) {
            o->check = true;
        } else if (strcmp(name, "--random") == 0) {
            o->random = true;
        } else if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--folder") == 0) {
            o->folder = value;
            i++;
        } else if (parse_number(o, name, value)) {
            i++;
        } else {
            usage(stderr);
            exit(2);
        }
    }
}

/* In a process of its own, whose memory is gone before anything is measured. */
static void write_apart(const char *path, uint64_t samples)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        write_index(path, samples);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        unlink(path);
        exit(1);
    }
}

static void print_text(const figures *f)
{
    printf(
        "index of %llu samples: %.1f MB, %.1f bytes each (48 a record, 8 a place and 24 of a key, 8 of the key map)\n",
        (unsigned long long)f->samples, (double)f->file_nbytes / 1e6, (double)f->file_nbytes / (double)f->samples);
    if (f->check_s != 0)
        printf("every byte checked           %10.2f s\n", f->check_s);
    printf("open, in memory already      %10.6f s\n", f->open_warm_ns / 1e9);
    printf("open, pages dropped          %10.6f s\n", f->open_cold_ns / 1e9);
    printf("resident before opening      %10.1f MB\n", (double)f->rss_before / 1e6);
    printf("  after opening              %10.1f MB\n", (double)f->rss_open / 1e6);
    printf("  after %8llu records     %10.1f MB\n", (unsigned long long)f->reads, (double)f->rss_read / 1e6);
    printf("  after %8llu keys        %10.1f MB\n", (unsigned long long)f->finds, (double)f->rss_find / 1e6);
    printf("%-28s %10s %10s\n", "", "p50 us", "p99 us");
    printf("random record                %10.3f %10.3f\n", f->read.p50 / 1e3, f->read.p99 / 1e3);
    printf("random key                   %10.3f %10.3f\n", f->find.p50 / 1e3, f->find.p99 / 1e3);
    printf("random record, dropped       %10.3f %10.3f\n", f->read_cold.p50 / 1e3, f->read_cold.p99 / 1e3);
    printf("random key, dropped          %10.3f %10.3f\n", f->find_cold.p50 / 1e3, f->find_cold.p99 / 1e3);
}

static void print_spread(const char *name, spread s, const char *end)
{
    printf("  \"%s\": {\"p50\": %.0f, \"p99\": %.0f}%s\n", name, s.p50, s.p99, end);
}

static void print_json(const figures *f)
{
    printf("{\n  \"samples\": %llu,\n  \"index_nbytes\": %llu,\n", (unsigned long long)f->samples,
           (unsigned long long)f->file_nbytes);
    printf("  \"nbytes_per_sample\": %.3f,\n", (double)f->file_nbytes / (double)f->samples);
    printf("  \"check_s\": %.3f,\n  \"open_warm_ns\": %.0f,\n  \"open_cold_ns\": %.0f,\n", f->check_s, f->open_warm_ns,
           f->open_cold_ns);
    printf("  \"rss_before_nbytes\": %llu,\n  \"rss_open_nbytes\": %llu,\n", (unsigned long long)f->rss_before,
           (unsigned long long)f->rss_open);
    printf("  \"rss_read_nbytes\": %llu,\n  \"rss_find_nbytes\": %llu,\n", (unsigned long long)f->rss_read,
           (unsigned long long)f->rss_find);
    printf("  \"reads\": %llu,\n  \"finds\": %llu,\n  \"cold\": %llu,\n", (unsigned long long)f->reads,
           (unsigned long long)f->finds, (unsigned long long)f->cold);
    print_spread("read_ns", f->read, ",");
    print_spread("find_ns", f->find, ",");
    print_spread("read_cold_ns", f->read_cold, ",");
    print_spread("find_cold_ns", f->find_cold, "");
    printf("}\n");
}

int main(int argc, char **argv)
{
    const char *scratch = getenv("TMPDIR");
    options o = {.samples = 1280000, .reads = 1000000, .finds = 100000, .cold = 1000, .seed = 1};
    figures f = {.samples = 0};
    char path[4096];
    o.folder = scratch != NULL ? scratch : "/tmp";
    parse(&o, argc, argv);
    if (o.keep)
        snprintf(path, sizeof path, "%s/bench-%llu.mrx", o.folder, (unsigned long long)o.samples);
    else
        snprintf(path, sizeof path, "%s/bench-%llu-%ld.mrx", o.folder, (unsigned long long)o.samples, (long)getpid());
    if (!o.keep || access(path, R_OK) != 0)
        write_apart(path, o.samples);
    measure_index(path, &o, &f);
    if (!o.keep)
        unlink(path);
    if (o.json)
        print_json(&f);
    else
        print_text(&f);
    return 0;
}
