/* Code as steps, one an instruction, with the depth of the stack at each, found before the code runs. */
#include "vm.h"

enum {
    ICONST_M1 = 1, FCONST_0 = 8, FCONST_2 = 10, LDC = 11, INVOKE = 12, FIRST_SLOT = 13, LAST_SLOT = 42, GOTO = 43, IF_TRUE = 44,
    IF_FALSE = 45,
    SCALAR = 1, TENSOR = 2, INDEXED = 4
};

_Noreturn static void ends(void) { fail("the code ends within an instruction"); }

static int64_t word(const Module *m, int64_t at) {
    if (at >= (int64_t)m->code_count) ends();
    return m->code[at];
}

/* An ldc becomes a step whose index is its constant; returns where it ends. */
static int64_t read_ldc(const Module *m, Step *step) {
    int64_t kind = word(m, step->offset + 1), count = word(m, step->offset + 2), end = step->offset + 3;
    step->kind = STEP_CONSTANT;
    if (kind == TENSOR) {
        if (count < 0 || count > (int64_t)m->code_count - end - 2) ends();
        end += count + 2;
        step->dims = m->code + step->offset + 3;
        if (dtype_coded(m->code[end - 2]) < 0) fail("elements of type code %lld", (long long)m->code[end - 2]);
    } else if (kind != SCALAR) {
        fail("ldc of type code %lld", (long long)kind);
    }
    step->index = (size_t)m->code[end - 1];
    return end;
}

/* Returns where the instruction ends. */
static int64_t read_step(const Module *m, int64_t offset, Step *step) {
    int64_t op = m->code[offset];
    step->offset = offset;
    set_place("bytecode offset %lld", (long long)offset);
    if (op >= ICONST_M1 && op <= FCONST_2) {
        int64_t number = op >= FCONST_0 ? op - FCONST_0 : op - ICONST_M1 - 1;
        step->kind = STEP_PUSH;
        step->value = value_number(op >= FCONST_0 ? F64 : I64, number, (double)number);
        return offset + 1;
    }
    if (op == LDC) return read_ldc(m, step);
    if (op >= FIRST_SLOT && op <= LAST_SLOT) {
        int64_t group = (op - FIRST_SLOT) / (INDEXED + 1), index = (op - FIRST_SLOT) % (INDEXED + 1);
        step->kind = group % 2 == 0 ? STEP_LOAD : STEP_STORE;
        step->index = (size_t)(index > 0 ? index - 1 : word(m, offset + 1));
        return offset + (index > 0 ? 1 : 2);
    }
    if (op != INVOKE && (op < GOTO || op > IF_FALSE)) fail("unknown opcode %lld", (long long)op);
    step->kind = op == INVOKE ? STEP_CALL : op == GOTO ? STEP_JUMP : STEP_IF;
    step->when = op == IF_TRUE;
    step->index = (size_t)word(m, offset + 1);
    return offset + 2;
}

static void read_steps(const Module *m, Code *code, int64_t *numbers) {
    size_t room = 0;
    for (int64_t at = 0; at < (int64_t)m->code_count;) {
        Step step = {.kind = STEP_PUSH};
        numbers[at] = (int64_t)code->count;
        at = read_step(m, at, &step);
        code->steps = grow(code->steps, code->count, &room, sizeof step);
        code->steps[code->count++] = step;
    }
    numbers[m->code_count] = (int64_t)code->count;
}

/* Targets become numbers of steps; notes where straight pieces of code start. */
static void link_jumps(const Module *m, Code *code, const int64_t *numbers) {
    code->starts = allocate_array(code->count + 1, sizeof *code->starts);
    for (size_t n = 0; n < code->count; n++) {
        Step *step = &code->steps[n];
        if (step->kind != STEP_JUMP && step->kind != STEP_IF) continue;
        if (step->index > m->code_count || numbers[step->index] < 0) {
            set_place("bytecode offset %lld", (long long)step->offset);
            fail("a jump to %lld, where no instruction begins", (long long)step->index);
        }
        step->index = (size_t)numbers[step->index];
        code->starts[step->index] = code->starts[n + 1] = 1;
    }
    for (size_t n = 0; n < code->count; n++)
        if (code->starts[n] > 0) code->starts[n] = ++code->start_count;
    code->starts[code->count] = 0;
}

static const Hint *hint_at(const Module *m, const Hint **hints, size_t constant) {
    if (hints[constant] == NULL) {
        if (m->constants[constant].kind != TEXT) {
            fail("invokestatic of constant %zu, which is not a dispatch hint", constant);
        }
        hints[constant] = hint_parse(m->constants[constant].text);
    }
    return hints[constant];
}

/* The depth of the stack behind a step that has `depth` values before it. */
static int64_t depth_behind(const Module *m, const Hint **hints, const Step *step, int64_t depth) {
    int64_t taken = 0, given = 0;
    set_place("bytecode offset %lld", (long long)step->offset);
    if ((step->kind == STEP_CONSTANT || step->kind == STEP_CALL) && step->index >= m->constant_count) {
        fail("constant %lld of %zu", (long long)step->index, m->constant_count);
    }
    if (step->kind == STEP_CALL) {
        const Hint *hint = hint_at(m, hints, step->index);
        taken = (int64_t)hint->count;
        given = hint->result != NULL;
    } else if (step->kind == STEP_LOAD || step->kind == STEP_STORE) {
        if (step->index >= m->slots) fail("slot %lld of %zu", (long long)step->index, m->slots);
        given = step->kind == STEP_LOAD;
        taken = !given;
    } else {
        given = step->kind == STEP_PUSH || step->kind == STEP_CONSTANT;
        taken = step->kind == STEP_IF;
    }
    if (depth < taken) fail("the operand stack is empty");
    return depth + given - taken;
}

typedef struct {
    size_t *steps, count;
} Work;

/* The code continues at a step with `depth` values on the stack. */
static void continues(Code *code, Work *work, size_t next, int64_t depth) {
    if (next == code->count) return;
    if (code->depths[next] < 0) {
        code->depths[next] = depth;
        work->steps[work->count++] = next;
    } else if (code->depths[next] != depth) {
        fail("%lld values on the stack where it continues at %lld, %lld on another way there", (long long)depth,
             (long long)code->steps[next].offset, (long long)code->depths[next]);
    }
}

Code flow_of(const Module *m, const Hint **hints) {
    Code code = {0};
    int64_t *numbers = allocate_array(m->code_count + 1, sizeof *numbers);
    memset(numbers, -1, (m->code_count + 1) * sizeof *numbers);
    read_steps(m, &code, numbers);
    link_jumps(m, &code, numbers);
    free(numbers);
    Work work = {allocate_array(code.count + 1, sizeof *work.steps), 0};
    code.depths = allocate_array(code.count + 1, sizeof *code.depths);
    memset(code.depths, -1, (code.count + 1) * sizeof *code.depths);
    continues(&code, &work, 0, 0);
    while (work.count > 0) { /* each step once: its depth never changes */
        size_t n = work.steps[--work.count];
        const Step *step = &code.steps[n];
        int64_t depth = depth_behind(m, hints, step, code.depths[n]);
        code.deepest = (size_t)depth > code.deepest ? (size_t)depth : code.deepest;
        if (step->kind == STEP_JUMP || step->kind == STEP_IF) continues(&code, &work, step->index, depth);
        if (step->kind != STEP_JUMP) continues(&code, &work, n + 1, depth);
    }
    free(work.steps);
    set_place(NULL);
    return code;
}
