// SPDX-License-Identifier: Apache-2.0
#include "opencl_play.h"

#include <stdio.h>
#include <string.h>

int opencl_play_open(opencl_play *cl, const mr__cl_options *options, mr__detail *detail)
{
    mr__cl_options own = options != NULL ? *options : (mr__cl_options){0};
    *cl = (opencl_play){0};
    int result = mr__hooks_init(&cl->hooks, own.hooks);
    own.hooks = &cl->hooks;
    return result == 0 ? mr__cl_player_open(&own, &cl->player, detail) : result;
}

void opencl_play_close(opencl_play *cl)
{
    mr__cl_deck_free(cl->deck);
    mr__cl_player_close(cl->player);
    *cl = (opencl_play){0};
}

void opencl_wait_init(opencl_wait *w)
{
    *w = (opencl_wait){.code = 1};
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->cond, NULL);
}

void opencl_wait_played(void *user, int code, const char *why, const uint8_t *words)
{
    opencl_wait *w = user;
    pthread_mutex_lock(&w->mutex);
    w->done = true;
    w->code = code;
    w->words = words;
    snprintf(w->why.text, sizeof w->why.text, "%s", why != NULL ? why : "");
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->mutex);
}

int opencl_wait_for(opencl_wait *w, mr__detail *detail)
{
    pthread_mutex_lock(&w->mutex);
    while (!w->done)
        pthread_cond_wait(&w->cond, &w->mutex);
    w->done = false;
    *detail = w->why;
    pthread_mutex_unlock(&w->mutex);
    return w->code;
}

static int deck_for(opencl_play *cl, uint32_t nbytes, mr__detail *detail)
{
    if (cl->deck != NULL && cl->nbytes >= nbytes)
        return 0;
    mr__cl_deck_free(cl->deck);
    cl->deck = NULL;
    cl->nbytes = nbytes;
    return mr__cl_deck_new(cl->player, nbytes, nbytes, &cl->deck, detail);
}

int opencl_play_tape(void *user, const mr__tape *tape, uint8_t *arena, uint8_t *out, size_t out_nbytes,
                     mr__detail *detail)
{
    opencl_play *cl = user;
    mr__cl_piece piece = {0, out_nbytes, out};
    opencl_wait wait;
    int result = deck_for(cl, tape->nbytes, detail);
    if (result != 0)
        return result;
    opencl_wait_init(&wait);
    memcpy(mr__cl_deck_bytes(cl->deck), arena, tape->put);
    result = mr__cl_deck_play(cl->deck, tape, out_nbytes, &piece, 1, opencl_wait_played, &wait, detail);
    if (result == 0)
        result = opencl_wait_for(&wait, detail);
    if (result == 0)
        memcpy(arena, wait.words, tape->count * sizeof(uint32_t));
    return result;
}
