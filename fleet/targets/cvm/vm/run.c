/* Runs the steps. Layouts that a call has seen before cost it one comparison an operand. */
#include "vm.h"

typedef struct {
    const KernelTable *table;
    void **arrays; /* what a kernel gets */
    void *scratch;
    size_t scratch_bytes;
} Vm;

static void place_of(const Call *call) {
    if (call->name != NULL) set_place("operation %s", shown(call->name));
    else set_place("bytecode offset %lld", (long long)call->offset);
}

static bool takes(const Kernel *kernel, const Call *call, const Value *values, bool copying) {
    for (size_t i = 0; i < call->hint->count; i++) {
        const KernelOperand *wanted = &kernel->operands[i];
        const Layout *layout = values[i].layout;
        const Value *constant = call->constants[i];
        size_t size = DTYPES[layout->type->dtype].size, steps = (size_t)layout->type->rank * sizeof(int64_t);
        bool known = constant != NULL && layout->type->count == 1 && memcmp(constant->data, &wanted->bits, size) == 0;
        if (wanted->known != 0 && !known) return false;
        bool lies = wanted->strides == NULL ? layout->dense || copying : memcmp(wanted->strides, layout->strides, steps) == 0;
        if (!lies) return false;
    }
    return true;
}

static void choose_kernel(Call *call, Value *values) {
    for (int copying = 0; copying < 2; copying++) {
        for (size_t k = 0; k < call->candidate_count; k++) {
            const Kernel *kernel = &call->candidates[k];
            if (!takes(kernel, call, values, copying != 0)) continue;
            for (size_t i = 0; i < call->hint->count; i++) {
                if (kernel->operands[i].strides == NULL) value_densify(&values[i]);
            }
            call->kernel = kernel;
            return;
        }
    }
    fail("no kernel for \"%s\" with operands that lie like these", shown(call->hint->text));
}

static void choose_view(Call *call, Value *value) {
    call->result = view_of(call->hint, call->view, value->layout, &call->moved);
    if (call->result == NULL) {
        value_densify(value);
        call->result = view_of(call->hint, call->view, value->layout, &call->moved);
    }
    if (call->result == NULL) fail("%s cannot take its attributes", shown(call->hint->name));
}

/* What a call does with operands of other layouts than the last: checks types, converts numbers, copies what no kernel walks. */
static void meet(Call *call, Value *values) {
    const Hint *hint = call->hint;
    place_of(call);
    for (size_t i = 0; i < hint->count; i++) value_convert(&values[i], hint->types[i], i);
    if (call->kind == CALL_KERNEL) choose_kernel(call, values);
    else if (call->kind == CALL_VIEW) choose_view(call, &values[0]);
    for (size_t i = 0; i < hint->count; i++) call->seen[i] = values[i].layout;
    set_place(NULL);
}

_Noreturn static void fault(const Call *call, const int64_t *words) {
    enum { POWER = 1, INDEX, ANGLE, ROUNDS, LARGE, CHECK }; /* fleet.targets.riscv.faults.Fault */
    long long value = words[1], bound = words[2];
    place_of(call);
    switch (words[0]) {
    case POWER: fail("integers to negative integer powers are not allowed (exponent %lld)", value);
    case INDEX: fail("index %lld is out of bounds for axis 0 with size %lld", value, bound);
    case ANGLE: fail("the argument of sin or cos is larger than %lld, beyond which this target does not reduce it", bound);
    case LARGE: fail("%llu is no number of the run: its integers have 64 bits with a sign", (unsigned long long)value);
    case CHECK: {
        const Attribute *message = hint_attribute(call->hint, "message");
        bool text = message != NULL && message->words[0].kind == TEXT;
        fail("%s", text ? shown(message->words[0].text) : "a check of the source fails");
    }
    case ROUNDS: fail("a loop has not ended after %lld rounds", bound);
    default: fail("the kernel stops with fault %lld (%lld, %lld)", (long long)words[0], value, bound);
    }
}

static void *scratch(Vm *vm, size_t bytes) {
    if (bytes > vm->scratch_bytes) {
        free(vm->scratch);
        vm->scratch = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        if (vm->scratch == NULL) fail("%zu bytes of memory for a kernel cannot be had", bytes);
        vm->scratch_bytes = bytes;
    }
    return vm->scratch;
}

/* Takes the operands, which begin at `values`, and leaves the result there. */
static void perform(Vm *vm, Call *call, Value *values) {
    const size_t count = call->hint->count;
    for (size_t i = 0; i < count; i++) {
        if (values[i].layout != call->seen[i]) {
            meet(call, values);
            break;
        }
    }
    if (call->kind == CALL_SAME) return;
    if (call->kind == CALL_VIEW) {
        values[0].data += call->moved * (int64_t)DTYPES[call->result->type->dtype].size;
        values[0].layout = call->result;
        return;
    }
    Value result = {NULL, NULL, NULL};
    if (call->kind == CALL_PRINT) {
        place_of(call);
        print_values(call->hint, call->options, values);
        set_place(NULL);
    } else {
        if (call->kernel == NULL) meet(call, values); /* without operands */
        result = value_new(call->hint->result);
        vm->arrays[0] = result.data;
        for (size_t i = 0; i < count; i++) vm->arrays[i + 1] = values[i].data;
        vm->arrays[count + 1] = scratch(vm, (size_t)call->kernel->scratch);
        if (call->kernel->run(vm->arrays) != 0) fault(call, vm->table->fault);
    }
    for (size_t i = 0; i < count; i++) value_release(&values[i]);
    values[0] = result;
}

static bool truth(Value *value) {
    if (value->layout->type->count != 1) {
        fail("a branch on a value that is neither true nor false: %s", type_words(value->layout->type));
    }
    bool found = number_truth(value->layout->type->dtype, value->data);
    value_release(value);
    return found;
}

RunCounts run(const Code *code, const KernelTable *table, Value *slots, const RunOptions *options) {
    Value *stack = allocate_array(code->deepest + 1, sizeof *stack), *top = stack;
    Vm vm = {table, allocate_array(code->deepest + 2, sizeof(void *)), NULL, 0};
    RunCounts counts = {0, 0};
    size_t at = 0;
    while (at < code->count) {
        const Step *step = &code->steps[at++];
        if (++counts.steps > options->max_steps) {
            set_place("bytecode");
            fail("it has run %lld steps without an end", (long long)options->max_steps);
        }
        switch (step->kind) {
        case STEP_CONSTANT:
        case STEP_PUSH: *top++ = step->value; break;
        case STEP_FILL: *top++ = value_filled(step->type, step->value.data); break;
        case STEP_LOAD:
        case STEP_TAKE: {
            Value *slot = &slots[step->index];
            if (slot->layout == NULL) {
                set_place("bytecode");
                fail("slot %zu is read before it is written", step->index);
            }
            *top++ = *slot;
            if (step->kind == STEP_TAKE) {
                *slot = (Value){NULL, NULL, NULL};
            } else if (slot->buffer != NULL) {
                slot->buffer->references++;
            }
            break;
        }
        case STEP_STORE: value_release(&slots[step->index]); slots[step->index] = *--top; break;
        case STEP_DROP: value_release(--top); break;
        case STEP_CALL: {
            Call *call = step->call;
            top -= call->hint->count;
            perform(&vm, call, top);
            counts.calls++;
            if (call->hint->result != NULL) {
                if (options->tensors != NULL) npy_write(options->tensors, call->index, NULL, top);
                top++;
            }
            break;
        }
        case STEP_JUMP: at = step->index; break;
        case STEP_IF: at = truth(--top) == step->when ? step->index : at; break;
        }
    }
    free(vm.arrays);
    free(vm.scratch);
    free(stack);
    return counts;
}
