// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* As many characters as a terminal shows of text[0, nbytes), escapes and all. */
static size_t shown_width(const char *text, size_t nbytes)
{
    char *line = NULL, *head = strndup(text, nbytes);
    size_t length = 0, width = 0;
    FILE *stream = head != NULL ? open_memstream(&line, &length) : NULL;
    if (stream != NULL) {
        put_escaped(stream, head);
        fclose(stream);
    }
    for (size_t i = 0; line != NULL && i < length; i++)
        width += ((unsigned char)line[i] & 0xc0) != 0x80; /* a character's first byte */
    free(line);
    free(head);
    return width;
}

static void put_mark(const char *text, size_t at)
{
    terminal t = terminal_of(stderr);
    size_t length = strlen(text);
    fflush(stdout);
    fputs("  ", stderr);
    put_escaped(stderr, text);
    fprintf(stderr, "\n  %*s%s^%s\n", (int)shown_width(text, at < length ? at : length), "", style_of(&t, STYLE_GREEN),
            style_of(&t, STYLE_NONE));
}

static int tell_missing(const command *c)
{
    complain(NULL, "%s: --recipe is missing: what is to be made of each image. For example:", c->name);
    fputs("  --recipe 'rrc(224) flip normalize(imagenet)'            training: a random part, at random mirrored\n"
          "  --recipe 'short(256) center(224) normalize(imagenet)'   validation: the middle\n"
          "  --recipe 'rrc(224) flip dtype(u8) layout(nhwc)'         bytes, to be normalized on the accelerator\n",
          stderr);
    return EXIT_USAGE;
}

static int refuse(const command *c, const mr_recipe *recipe, int code)
{
    const char *detail = recipe != NULL ? mr_recipe_detail(recipe) : "";
    complain(NULL, "%s: %s%s", c->name,
             c == &command_recipe ? "" : "--recipe: ", detail[0] != '\0' ? detail : mr_error_text(code));
    return code == MR_EARGUMENT ? EXIT_USAGE : EXIT_BAD_INPUT;
}

int recipe_read(const command *c, const settings *s, mr_recipe **out, mr_output *output)
{
    mr_recipe *recipe = NULL;
    if (s->recipe == NULL)
        return tell_missing(c);
    *output = (mr_output){.struct_size = sizeof *output};
    int code = mr_recipe_new(NULL, &recipe);
    if (code == 0) {
        code = mr_recipe_parse(recipe, s->recipe);
        if (code == MR_EARGUMENT)
            put_mark(s->recipe, mr_recipe_error_at(recipe));
    }
    if (code == 0)
        code = mr_recipe_set_fusing(recipe, !s->no_fuse);
    if (code == 0)
        code = mr_recipe_output(recipe, output);
    if (code == 0) {
        *out = recipe;
        return EXIT_GOOD;
    }
    int result = refuse(c, recipe, code);
    mr_recipe_free(recipe);
    return result;
}
