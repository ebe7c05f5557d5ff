/* Which load of a slot is the last one, so that memory is free again as soon as nothing reads it. */
#include "vm.h"

#include <stdlib.h>
#include <string.h>

/* Memory for the sets of live slots; code that would need more keeps its values until it ends. */
static const size_t LIMIT = (size_t)1 << 26;

typedef struct {
    uint64_t *words;
    size_t size; /* words of a set */
} Sets;

static uint64_t *set_of(const Sets *sets, size_t block) { return sets->words + block * sets->size; }

static bool has(const uint64_t *set, size_t slot) { return (set[slot / 64] >> (slot % 64) & 1) != 0; }

static void put(uint64_t *set, size_t slot) { set[slot / 64] |= (uint64_t)1 << (slot % 64); }

static void drop(uint64_t *set, size_t slot) { set[slot / 64] &= ~((uint64_t)1 << (slot % 64)); }

/* From what is live behind a block to what is live before it; where `steps` are given, marks them. */
static void backwards(const Flow *flow, const Block *block, uint64_t *live, Step *steps) {
    for (size_t n = block->last; n-- > block->first;) {
        const Instruction *i = &flow->instructions[n];
        size_t slot = (size_t)i->word;
        if (i->form == FORM_LOAD) {
            if (steps != NULL && !has(live, slot)) steps[n].kind = STEP_TAKE;
            put(live, slot);
        } else if (i->form == FORM_STORE) {
            if (steps != NULL && !has(live, slot)) steps[n].kind = STEP_DROP;
            drop(live, slot);
        }
    }
}

static void behind(const Block *block, const Sets *sets, uint64_t *live) {
    memset(live, 0, sets->size * sizeof *live);
    for (int s = 0; s < block->successor_count; s++) {
        const uint64_t *next = set_of(sets, block->successors[s]);
        for (size_t w = 0; w < sets->size; w++) live[w] |= next[w];
    }
}

void mark_last_uses(const Module *m, const Flow *flow, Step *steps) {
    Sets sets = {NULL, m->slots / 64 + 1};
    if (flow->block_count + 2 > LIMIT / sizeof(uint64_t) / sets.size) return;
    sets.words = allocate_array((flow->block_count + 1) * sets.size, sizeof(uint64_t));
    uint64_t *live = allocate_array(sets.size, sizeof *live), *end = set_of(&sets, flow->block_count);
    for (size_t i = 0; i < m->output_count; i++) put(end, m->outputs[i].slot);
    bool changed = true;
    /* Blocks of loops inside loops need a round for each level; code that no front end writes may need more, and is left alone. */
    for (int round = 0; changed && round < 64; round++) {
        changed = false;
        for (size_t b = flow->block_count; b-- > 0;) {
            if (flow->blocks[b].depth < 0) continue;
            behind(&flow->blocks[b], &sets, live);
            backwards(flow, &flow->blocks[b], live, NULL);
            uint64_t *known = set_of(&sets, b);
            if (memcmp(known, live, sets.size * sizeof *live) != 0) {
                memcpy(known, live, sets.size * sizeof *live);
                changed = true;
            }
        }
    }
    for (size_t b = 0; !changed && b < flow->block_count; b++) {
        if (flow->blocks[b].depth >= 0) {
            behind(&flow->blocks[b], &sets, live);
            backwards(flow, &flow->blocks[b], live, steps);
        }
    }
    free(live);
    free(sets.words);
}
