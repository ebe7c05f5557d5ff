/* Steps made ready to run: constants made, calls bound to kernels. */
#include "vm.h"

static const int64_t MAX_CONSTANT_BYTES = (int64_t)1 << 31;
/* Tensors up to this size are made when the code is decoded; larger ones in every run, and freed. */
static const size_t MADE_ONCE = 256;

static Value number_of(const Datum *constant) {
    if (constant->kind > REAL) fail("a text is no value");
    Dtype dtype = constant->kind == TRUTH ? BOOL : constant->kind == INTEGER ? I64 : F64;
    return value_number(dtype, constant->integer, constant->real);
}

static Value array_of(const Array *array, const Type *type) {
    if (array->type->dtype != type->dtype || array->type->count != type->count) {
        fail("a constant of %s as %s", type_words(array->type), type_words(type));
    }
    return (Value){type->dense, NULL, array->data};
}

/* Of what a step pushes, `value` stays as long as the process. */
static void make_constant(const Module *m, Step *step) {
    const Datum *constant = &m->constants[step->index];
    const int64_t *dims = step->dims;
    step->kind = STEP_PUSH;
    if (dims == NULL) {
        bool array = constant->kind == ARRAY;
        step->value = array ? array_of(constant->array, constant->array->type) : number_of(constant);
        return;
    }
    int64_t rank = dims[-1];
    if (rank > MAX_RANK) fail("a tensor of %lld dimensions, at most %d are possible", (long long)rank, MAX_RANK);
    const Type *type = type_of((Dtype)dtype_coded(dims[rank]), (int)rank, dims);
    if ((int64_t)type->bytes > MAX_CONSTANT_BYTES) {
        fail("constant %s: %zu bytes, at most %lld are possible", type_words(type), type->bytes, (long long)MAX_CONSTANT_BYTES);
    }
    if (constant->kind == ARRAY) {
        step->value = array_of(constant->array, type);
        return;
    }
    Value number = number_of(constant), element;
    if (!value_converted(&number, type_of(type->dtype, 0, NULL), &element)) {
        fail("constant %s: not a number of that kind", type_words(type));
    }
    free(number.data);
    step->kind = type->bytes > MADE_ONCE ? STEP_FILL : STEP_PUSH;
    step->type = type;
    step->value = step->kind == STEP_FILL ? element : value_filled(type, element.data);
    step->value.buffer = NULL;
    if (step->kind == STEP_PUSH) value_release(&element);
}

static void bind(Call *call, const KernelTable *table) {
    static const char *VIEWS[] = {"reshape", "transpose", "slice", "broadcast_to"}; /* in the order of ViewKind */
    const Hint *hint = call->hint;
    if (strcmp(hint->name, "print") == 0) {
        call->kind = CALL_PRINT;
        if (hint->result != NULL) fail("a print with a result");
        call->options = print_prepare(hint);
        return;
    }
    if (hint->result == NULL) fail("%s without a result", shown(hint->name));
    call->kind = strcmp(hint->name, "element") == 0 ? CALL_SAME : CALL_KERNEL;
    for (int i = VIEW_RESHAPE; i <= VIEW_BROADCAST; i++) {
        if (strcmp(hint->name, VIEWS[i]) == 0) {
            call->kind = CALL_VIEW;
            call->view = (ViewKind)i;
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

Code decode(const Module *m, const KernelTable *table) {
    const Hint **hints = allocate_array(m->constant_count + 1, sizeof(Hint *));
    Code code = flow_of(m, hints);
    /* The step that pushed each value since the code last started; NULL where that is not known. */
    Step **pushed = allocate_array(code.deepest + 1, sizeof *pushed);
    size_t invokes = 0;
    for (size_t n = 0; n < code.count; n++) {
        Step *step = &code.steps[n];
        int64_t depth = code.depths[n];
        size_t invoke = invokes;
        invokes += step->kind == STEP_CALL;
        if (depth < 0) continue; /* nothing leads here */
        if (code.starts[n] > 0 && depth > 0) memset(pushed, 0, (size_t)depth * sizeof *pushed);
        set_place("bytecode offset %lld", (long long)step->offset);
        if (step->kind == STEP_CONSTANT) make_constant(m, step);
        if (step->kind == STEP_CALL) {
            Call *call = allocate(sizeof *call);
            *call = (Call){.hint = hints[step->index], .index = invoke, .offset = step->offset};
            call->name = invoke < m->invoke_count ? m->invokes[invoke] : NULL;
            call->constants = allocate_array(call->hint->count + 1, sizeof(Value *));
            call->seen = allocate_array(call->hint->count + 1, sizeof(Layout *));
            bind(call, table);
            step->call = call;
            depth -= (int64_t)call->hint->count;
            for (size_t k = 0; k < call->hint->count; k++) { /* a constant that only this call takes gets the expected type */
                Step *push = pushed[depth + (int64_t)k];
                if (push == NULL) continue;
                value_convert(&push->value, call->hint->types[k], k);
                push->value.buffer = NULL;
                call->constants[k] = &push->value;
            }
        }
        pushed[depth] = step->kind == STEP_PUSH ? step : NULL;
    }
    set_place(NULL);
    mark_last_uses(m, &code);
    free(pushed);
    return code;
}
