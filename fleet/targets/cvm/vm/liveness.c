/* Which load of a slot is the last one, so that memory is free again as soon as nothing reads it. */
#include "vm.h"

/* Memory for the sets of live slots; code that would need more keeps its values until it ends. */
static const size_t LIMIT = (size_t)1 << 26;

typedef struct {
    uint64_t *words, *live; /* a set for the end and for each start of code; the one where the walk is */
    size_t size;            /* words of a set */
} Sets;

static uint64_t *set_of(const Code *code, const Sets *sets, size_t step) { return sets->words + code->starts[step] * sets->size; }

/* Walks the code backwards. Returns whether a set has changed; `marks`: changes loads and stores that are the last instead. */
static bool backwards(const Code *code, const Sets *sets, bool marks) {
    size_t bytes = sets->size * sizeof *sets->live;
    bool changed = false;
    memcpy(sets->live, set_of(code, sets, code->count), bytes);
    for (size_t n = code->count; n-- > 0;) {
        Step *step = &code->steps[n];
        if (code->depths[n] < 0) continue;
        if (step->kind == STEP_JUMP) {
            memcpy(sets->live, set_of(code, sets, step->index), bytes);
        } else if (step->kind == STEP_IF) {
            for (size_t w = 0; w < sets->size; w++) sets->live[w] |= set_of(code, sets, step->index)[w];
        } else if (step->kind == STEP_LOAD || step->kind == STEP_STORE) {
            uint64_t *word = &sets->live[step->index / 64], bit = (uint64_t)1 << step->index % 64;
            bool load = step->kind == STEP_LOAD, last = (*word & bit) == 0;
            if (marks && last) step->kind = load ? STEP_TAKE : STEP_DROP;
            *word = load ? *word | bit : *word & ~bit;
        }
        if (code->starts[n] > 0 && memcmp(set_of(code, sets, n), sets->live, bytes) != 0) {
            memcpy(set_of(code, sets, n), sets->live, bytes);
            changed = true;
        }
    }
    return changed;
}

void mark_last_uses(const Module *m, const Code *code) {
    Sets sets = {.size = m->slots / 64 + 1};
    size_t count = code->start_count + 1;
    if (count + 1 > LIMIT / sizeof *sets.words / sets.size) return;
    sets.words = allocate_array((count + 1) * sets.size, sizeof *sets.words);
    sets.live = sets.words + count * sets.size;
    for (size_t i = 0; i < m->output_count; i++) sets.words[m->outputs[i].slot / 64] |= (uint64_t)1 << m->outputs[i].slot % 64;
    bool changed = true;
    /* Loops inside loops need a round for each level; code that no front end writes may need more, and is left alone. */
    for (int round = 0; changed && round < 64; round++) changed = backwards(code, &sets, false);
    if (!changed) (void)backwards(code, &sets, true);
    free(sets.words);
}
