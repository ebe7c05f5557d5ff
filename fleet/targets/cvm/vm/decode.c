/* Instructions as steps: constants made, calls bound to kernels; one step an instruction, so that jumps keep their targets. */
#include "vm.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MAX_CONSTANT_BYTES = (int64_t)1 << 31;
/* Tensors up to this size are made when the code is decoded; larger ones in every run, and freed. */
static const size_t MADE_ONCE = 256;

static Value number_of(const Constant *constant) {
    if (constant->kind > CONSTANT_REAL) fail("a text is no value");
    Dtype dtype = constant->kind == CONSTANT_TRUTH ? BOOL : constant->kind == CONSTANT_INTEGER ? I64 : F64;
    return value_number(dtype, constant->integer, constant->real);
}

static Step push_array(const Array *array, const Type *type) {
    Step step = {.kind = STEP_PUSH};
    if (array->type->dtype != type->dtype || array->type->count != type->count) {
        fail("a constant of %s as %s", type_words(array->type), type_words(type));
    }
    Value value = {type->dense, NULL, array->data};
    step.value = value;
    return step;
}

static void fill(char *to, const char *element, size_t size, int64_t count) {
    for (int64_t n = 0; n < count; n++) memcpy(to + (size_t)n * size, element, size);
}

static Step load_constant(const Module *m, const Instruction *i) {
    Step step = {.kind = STEP_PUSH};
    const Constant *constant = &m->constants[i->word];
    if (!i->tensor) {
        if (constant->kind == CONSTANT_ARRAY) return push_array(constant->array, constant->array->type);
        step.value = number_of(constant);
        return step;
    }
    if (i->rank > MAX_RANK) fail("a tensor of %lld dimensions, at most %d are possible", (long long)i->rank, MAX_RANK);
    const Type *type = type_of(i->element, (int)i->rank, i->dims);
    if ((int64_t)type->bytes > MAX_CONSTANT_BYTES) {
        fail("constant %s: %zu bytes, at most %lld are possible", type_words(type), type->bytes, (long long)MAX_CONSTANT_BYTES);
    }
    if (constant->kind == CONSTANT_ARRAY) return push_array(constant->array, type);
    Value number = number_of(constant), element = {NULL, NULL, NULL};
    if (!value_converted(&number, type_of(type->dtype, 0, NULL), &element)) {
        fail("constant %s: not a number of that kind", type_words(type));
    }
    free(number.data);
    if (type->bytes > MADE_ONCE) {
        step.kind = STEP_FILL;
        step.type = type;
        step.value = element;
        step.value.buffer = NULL; /* it stays as long as the process */
        return step;
    }
    step.value = value_new(type);
    step.value.buffer = NULL;
    fill(step.value.data, element.data, DTYPES[type->dtype].size, type->count);
    value_release(&element);
    return step;
}

static void bind(Call *call, const KernelTable *table) {
    static const struct {
        const char *name;
        ViewKind kind;
    } VIEWS[] = {{"reshape", VIEW_RESHAPE}, {"transpose", VIEW_TRANSPOSE}, {"slice", VIEW_SLICE}, {"broadcast_to", VIEW_BROADCAST}};
    const Hint *hint = call->hint;
    if (strcmp(hint->name, "print") == 0) {
        call->kind = CALL_PRINT;
        if (hint->result != NULL) fail("a print with a result");
        call->options = print_prepare(hint);
        return;
    }
    if (hint->result == NULL) fail("%s without a result", shown(hint->name));
    call->kind = strcmp(hint->name, "element") == 0 ? CALL_SAME : CALL_KERNEL;
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) {
        if (strcmp(hint->name, VIEWS[i].name) == 0) {
            call->kind = CALL_VIEW;
            call->view = VIEWS[i].kind;
        }
    }
    if (call->kind != CALL_KERNEL) {
        if (hint->count != 1 || (call->kind == CALL_SAME && hint->types[0] != hint->result)) {
            fail("%s of other operands than one, or of another type than its result's", shown(hint->name));
        }
        return;
    }
    call->candidates = kernels_of(table, hint->text, &call->candidate_count);
    for (size_t i = 0; i < call->candidate_count; i++)
        if (call->candidates[i].count != (int64_t)hint->count) fail("the kernels are damaged");
    if (call->candidate_count == 0) fail("no kernel for \"%s\": the kernels are those of another model", shown(hint->text));
}

static Call *call_of(const Hint *hint, const char *name, size_t index, int64_t offset, const KernelTable *table) {
    Call *call = allocate(sizeof *call);
    call->hint = hint;
    call->name = name;
    call->index = index;
    call->offset = offset;
    call->constants = allocate_array(hint->count + 1, sizeof(Value *));
    call->seen = allocate_array(hint->count + 1, sizeof(Layout *));
    bind(call, table);
    return call;
}

/* A constant that only this call takes becomes a value of the type that the call expects. */
static void give(Call *call, size_t operand, Step *push) {
    const Type *type = call->hint->types[operand];
    if (push->value.layout->type != type) {
        Value found = {NULL, NULL, NULL};
        if (!value_converted(&push->value, type, &found)) {
            fail("operand %zu is %s, expected %s", operand, type_words(push->value.layout->type), type_words(type));
        }
        push->value = found;
        push->value.buffer = NULL;
    }
    call->constants[operand] = &push->value;
}

typedef struct {
    const Module *module;
    const Hint **hints;
    const KernelTable *table;
    Flow flow;
    Step *steps;
    int64_t *stack; /* the step that pushed each value of the block, -1 where that is not known */
    const size_t *invokes;
} Decoder;

static void decode_block(Decoder *d, const Block *block) {
    int64_t depth = block->depth;
    for (int64_t i = 0; i < depth; i++) d->stack[i] = -1;
    for (size_t n = block->first; n < block->last; n++) {
        const Instruction *i = &d->flow.instructions[n];
        Step *step = &d->steps[n];
        set_place("bytecode offset %lld", (long long)i->offset);
        switch (i->form) {
        case FORM_PUSH:
            step->kind = STEP_PUSH;
            step->value = value_number(i->real ? F64 : I64, i->number, (double)i->number);
            d->stack[depth++] = (int64_t)n;
            break;
        case FORM_LDC:
            *step = load_constant(d->module, i);
            d->stack[depth++] = step->kind == STEP_PUSH ? (int64_t)n : -1;
            break;
        case FORM_LOAD:
            step->kind = STEP_LOAD;
            step->index = (size_t)i->word;
            d->stack[depth++] = -1;
            break;
        case FORM_STORE:
            step->kind = STEP_STORE;
            step->index = (size_t)i->word;
            depth--;
            break;
        case FORM_INVOKE: {
            const Hint *hint = d->hints[i->word];
            size_t index = d->invokes[n];
            const char *name = index < d->module->invoke_count ? d->module->invokes[index] : NULL;
            step->kind = STEP_CALL;
            step->call = call_of(hint, name, index, i->offset, d->table);
            depth -= (int64_t)hint->count;
            for (size_t k = 0; k < hint->count; k++)
                if (d->stack[depth + (int64_t)k] >= 0) give(step->call, k, &d->steps[d->stack[depth + (int64_t)k]]);
            if (hint->result != NULL) d->stack[depth++] = -1;
            break;
        }
        case FORM_JUMP: step->kind = STEP_JUMP; step->index = (size_t)i->word; break;
        case FORM_BRANCH:
            step->kind = STEP_IF;
            step->index = (size_t)i->word;
            step->when = i->when;
            depth--;
            break;
        }
    }
}

Code decode(const Module *m, const KernelTable *table) {
    const Hint **hints = allocate_array(m->constant_count + 1, sizeof(Hint *));
    Flow flow = flow_of(m, hints);
    size_t *invokes = allocate_array(flow.count + 1, sizeof *invokes), count = 0;
    Code code = {allocate_array(flow.count + 1, sizeof *code.steps), flow.count, flow.depth};
    for (size_t n = 0; n < flow.count; n++) {
        invokes[n] = count;
        count += flow.instructions[n].form == FORM_INVOKE;
    }
    Decoder d = {m, hints, table, flow, code.steps, allocate_array(flow.depth + 1, sizeof *d.stack), invokes};
    for (size_t b = 0; b < flow.block_count; b++)
        if (flow.blocks[b].depth >= 0) decode_block(&d, &flow.blocks[b]);
    set_place(NULL);
    mark_last_uses(m, &flow, code.steps);
    free(d.stack);
    free(invokes);
    return code;
}
