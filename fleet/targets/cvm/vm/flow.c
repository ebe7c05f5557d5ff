/* Code as instructions and blocks, with the depth of the stack at each, found before the code runs. */
#include "vm.h"

#include <stdlib.h>
#include <string.h>

enum {
    ICONST_M1 = 1, ICONST_5 = 7, FCONST_0 = 8, FCONST_2 = 10, LDC = 11, INVOKE = 12, FIRST_SLOT = 13, LAST_SLOT = 42,
    GOTO = 43, IF_TRUE = 44, IF_FALSE = 45,
    SCALAR = 1, TENSOR = 2, INDEXED = 4
};

_Noreturn static void ends(void) { fail("the code ends within an instruction"); }

static int64_t word(const Module *m, int64_t at) {
    if (at >= (int64_t)m->code_count) ends();
    return m->code[at];
}

static void read_ldc(const Module *m, Instruction *i) {
    int64_t kind = word(m, i->offset + 1), count = word(m, i->offset + 2);
    i->form = FORM_LDC;
    if (kind == SCALAR) {
        i->word = count;
        i->end = i->offset + 3;
        return;
    }
    if (kind != TENSOR) fail("ldc of type code %lld", (long long)kind);
    if (count < 0 || count > (int64_t)m->code_count - i->offset - 5) ends();
    i->tensor = true;
    i->rank = count;
    i->dims = m->code + i->offset + 3;
    i->end = i->offset + 5 + count;
    i->word = m->code[i->end - 1];
    int64_t element = m->code[i->end - 2];
    int dtype = 0;
    while (dtype < DTYPE_COUNT && DTYPES[dtype].code != element) dtype++;
    if (dtype == DTYPE_COUNT) fail("elements of type code %lld", (long long)element);
    i->element = (Dtype)dtype;
}

static Instruction read_instruction(const Module *m, int64_t offset) {
    Instruction i = {.offset = offset, .end = offset + 1};
    int64_t op = m->code[offset];
    set_place("bytecode offset %lld", (long long)offset);
    if (op >= ICONST_M1 && op <= FCONST_2) {
        i.form = FORM_PUSH;
        i.real = op >= FCONST_0;
        i.number = i.real ? op - FCONST_0 : op - ICONST_M1 - 1;
    } else if (op == LDC) {
        read_ldc(m, &i);
    } else if (op >= FIRST_SLOT && op <= LAST_SLOT) {
        int64_t group = (op - FIRST_SLOT) / (INDEXED + 1), index = (op - FIRST_SLOT) % (INDEXED + 1);
        i.form = group % 2 == 0 ? FORM_LOAD : FORM_STORE;
        i.word = index > 0 ? index - 1 : word(m, offset + 1);
        i.end += index == 0;
    } else if (op == INVOKE || (op >= GOTO && op <= IF_FALSE)) {
        i.form = op == INVOKE ? FORM_INVOKE : op == GOTO ? FORM_JUMP : FORM_BRANCH;
        i.when = op == IF_TRUE;
        i.word = word(m, offset + 1);
        i.end++;
    } else {
        fail("unknown opcode %lld", (long long)op);
    }
    return i;
}

static void read_instructions(const Module *m, Flow *flow, int64_t *index) {
    size_t room = 0;
    for (int64_t at = 0; at < (int64_t)m->code_count;) {
        Instruction i = read_instruction(m, at);
        index[at] = (int64_t)flow->count;
        flow->instructions = grow(flow->instructions, flow->count, &room, sizeof *flow->instructions);
        flow->instructions[flow->count++] = i;
        at = i.end;
    }
    index[m->code_count] = (int64_t)flow->count;
}

static bool jumps(const Instruction *i) { return i->form == FORM_JUMP || i->form == FORM_BRANCH; }

/* Targets become indices of instructions. */
static void cut(const Module *m, Flow *flow, const int64_t *index) {
    bool *starts = allocate_array(flow->count + 1, sizeof *starts);
    size_t *number = allocate_array(flow->count + 1, sizeof *number);
    starts[0] = true;
    for (size_t n = 0; n < flow->count; n++) {
        Instruction *i = &flow->instructions[n];
        if (jumps(i)) {
            if (i->word < 0 || i->word > (int64_t)m->code_count || index[i->word] < 0) {
                set_place("bytecode offset %lld", (long long)i->offset);
                fail("a jump to %lld, where no instruction begins", (long long)i->word);
            }
            i->word = index[i->word];
            starts[i->word] = starts[n + 1] = true;
        }
    }
    for (size_t n = 0; n < flow->count; n++) flow->block_count += starts[n];
    flow->blocks = allocate_array(flow->block_count + 1, sizeof *flow->blocks);
    size_t block = 0;
    for (size_t n = 0; n < flow->count; n++) {
        if (starts[n]) {
            flow->blocks[block].first = n;
            flow->blocks[block].depth = -1;
            number[n] = block++;
        }
        flow->blocks[block - 1].last = n + 1;
    }
    number[flow->count] = flow->block_count;
    for (size_t b = 0; b < flow->block_count; b++) {
        const Instruction *last = &flow->instructions[flow->blocks[b].last - 1];
        size_t *next = flow->blocks[b].successors;
        int count = 0;
        if (jumps(last)) next[count++] = number[last->word];
        if (last->form != FORM_JUMP) next[count++] = b + 1;
        flow->blocks[b].successor_count = count;
    }
    free(starts);
    free(number);
}

static const Hint *hint_at(const Module *m, const Hint **hints, int64_t constant) {
    if (constant < 0 || constant >= (int64_t)m->constant_count) {
        fail("constant %lld of %zu", (long long)constant, m->constant_count);
    }
    if (hints[constant] == NULL) {
        if (m->constants[constant].kind != CONSTANT_TEXT) {
            fail("invokestatic of constant %lld, which is not a dispatch hint", (long long)constant);
        }
        hints[constant] = hint_parse(m->constants[constant].text);
    }
    return hints[constant];
}

static int64_t walk(const Module *m, const Hint **hints, Flow *flow, const Block *block) {
    int64_t depth = block->depth;
    for (size_t n = block->first; n < block->last; n++) {
        const Instruction *i = &flow->instructions[n];
        int64_t taken = 0, given = 0;
        set_place("bytecode offset %lld", (long long)i->offset);
        switch (i->form) {
        case FORM_PUSH: given = 1; break;
        case FORM_LDC:
            given = 1;
            if (i->word < 0 || i->word >= (int64_t)m->constant_count) {
                fail("constant %lld of %zu", (long long)i->word, m->constant_count);
            }
            break;
        case FORM_INVOKE: {
            const Hint *hint = hint_at(m, hints, i->word);
            taken = (int64_t)hint->count;
            given = hint->result != NULL;
            break;
        }
        case FORM_LOAD:
        case FORM_STORE:
            given = i->form == FORM_LOAD;
            taken = !given;
            if (i->word < 0 || i->word >= (int64_t)m->slots) fail("slot %lld of %zu", (long long)i->word, m->slots);
            break;
        case FORM_BRANCH: taken = 1; break;
        case FORM_JUMP: break;
        }
        if (depth < taken) fail("the operand stack is empty");
        depth += given - taken;
        flow->depth = (size_t)depth > flow->depth ? (size_t)depth : flow->depth;
    }
    return depth;
}

Flow flow_of(const Module *m, const Hint **hints) {
    Flow flow = {NULL, 0, NULL, 0, 0};
    int64_t *index = allocate_array(m->code_count + 1, sizeof *index);
    memset(index, -1, (m->code_count + 1) * sizeof *index);
    read_instructions(m, &flow, index);
    cut(m, &flow, index);
    free(index);
    size_t *work = allocate_array(flow.block_count + 1, sizeof *work), waiting = 0;
    if (flow.block_count > 0) {
        flow.blocks[0].depth = 0;
        work[waiting++] = 0;
    }
    while (waiting > 0) { /* each block once: its depth never changes */
        const Block *block = &flow.blocks[work[--waiting]];
        int64_t depth = walk(m, hints, &flow, block);
        for (int s = 0; s < block->successor_count; s++) {
            size_t next = block->successors[s];
            if (next == flow.block_count) continue;
            if (flow.blocks[next].depth < 0) {
                flow.blocks[next].depth = depth;
                work[waiting++] = next;
            } else if (flow.blocks[next].depth != depth) {
                fail("%lld values on the stack where it continues at %lld, %lld on another way there", (long long)depth,
                     (long long)flow.instructions[flow.blocks[next].first].offset, (long long)flow.blocks[next].depth);
            }
        }
    }
    free(work);
    set_place(NULL);
    return flow;
}
