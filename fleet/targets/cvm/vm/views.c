/* Movements that copy nothing: the same memory with other steps. */
#include "vm.h"

/* An attribute's integers; false if it has another number of them, or other words. One that is missing has none. */
static bool integers(const Hint *hint, const char *name, int count, int64_t *found) {
    const Attribute *attribute = hint_attribute(hint, name);
    if (attribute == NULL || attribute->count != (size_t)count) return attribute == NULL && count == 0;
    for (int i = 0; i < count; i++) {
        if (attribute->words[i].kind != INTEGER) return false;
        found[i] = attribute->words[i].integer;
    }
    return true;
}

_Noreturn static void unfit(const Hint *hint) { fail("%s cannot take its attributes: %s", hint->name, shown(hint->text)); }

/* The steps of an array of one shape read as another, where its elements lie evenly enough. */
static bool reshape(int rank, const int64_t *dims, const int64_t *strides, const Type *to, int64_t *out) {
    int from[MAX_RANK], count = 0;
    if (to->count == 0) return true; /* any steps: `out` is zeros */
    for (int i = 0; i < rank; i++)
        if (dims[i] != 1) from[count++] = i;
    int i = 0, j = 0;
    while (i < count) {
        int first = i, target = j;
        int64_t have = dims[from[i++]], want = 1;
        while (j < to->rank && (want < have || want == 1)) want *= to->dims[j++];
        while (want != have) {
            if (have < want && i < count) have *= dims[from[i++]];
            else if (want < have && j < to->rank) want *= to->dims[j++];
            else return false;
        }
        for (int k = first; k + 1 < i; k++)
            if (strides[from[k]] != dims[from[k + 1]] * strides[from[k + 1]]) return false;
        int64_t step = strides[from[i - 1]];
        for (int k = j - 1; k >= target; k--) {
            out[k] = step;
            step *= to->dims[k];
        }
    }
    for (; j < to->rank; j++) out[j] = 0;
    return true;
}

static bool transpose(const Hint *hint, const Layout *source, const Type *to, int64_t *out) {
    const Type *type = source->type;
    int64_t order[MAX_RANK];
    bool there[MAX_RANK] = {false};
    if (to->rank != type->rank) return false;
    if (hint_attribute(hint, "permutation") == NULL) {
        for (int i = 0; i < type->rank; i++) order[i] = type->rank - 1 - i;
    } else if (!integers(hint, "permutation", type->rank, order)) {
        return false;
    }
    for (int i = 0; i < type->rank; i++) {
        int64_t from = order[i] < 0 ? order[i] + type->rank : order[i];
        if (from < 0 || from >= type->rank || there[from] || type->dims[from] != to->dims[i]) return false;
        there[from] = true;
        out[i] = source->strides[from];
    }
    return true;
}

static bool broadcast(const Layout *source, const Type *to, int64_t *out) {
    const Type *type = source->type;
    int lead = to->rank - type->rank;
    if (lead < 0) return false;
    for (int i = 0; i < to->rank; i++) {
        out[i] = 0;
        if (i >= lead && type->dims[i - lead] == to->dims[i]) out[i] = source->strides[i - lead];
        else if (i >= lead && type->dims[i - lead] != 1) return false;
    }
    return true;
}

/* Returns 1 for a view, 0 where elements must be copied, -1 where the window does not fit. */
static int slice(const Hint *hint, const Layout *source, const Type *to, int64_t *out, int64_t *offset) {
    const Type *type = source->type;
    int64_t start[MAX_RANK], size[MAX_RANK], step[MAX_RANK], strides[MAX_RANK], count = 1;
    bool stepped = hint_attribute(hint, "step") != NULL;
    if (!integers(hint, "start", type->rank, start) || !integers(hint, "size", type->rank, size) ||
        (stepped && !integers(hint, "step", type->rank, step))) {
        return -1;
    }
    for (int i = 0; i < type->rank; i++) {
        int64_t length = type->dims[i], by = stepped ? step[i] : 1;
        if (size[i] < 0 || size[i] > length) return -1;
        count *= size[i]; /* at most the elements of the operand, or 0 */
        if (size[i] > 0) {
            int64_t room = by < 0 ? start[i] : length - 1 - start[i], distance = by < 0 ? -(by + 1) : by - 1;
            if (start[i] < 0 || start[i] >= length || by == 0) return -1;
            if (size[i] > 1 && (distance >= room || (distance + 1) > room / (size[i] - 1))) return -1;
            *offset += source->strides[i] * start[i];
        }
        strides[i] = size[i] > 1 ? source->strides[i] * by : 0;
    }
    if (count != to->count) return -1;
    if (count == 0) *offset = 0;
    return reshape(type->rank, size, strides, to, out);
}

const Layout *view_of(const Hint *hint, ViewKind kind, const Layout *source, int64_t *offset) {
    const Type *to = hint->result;
    int64_t out[MAX_RANK] = {0};
    int found = -1;
    *offset = 0;
    if (to == NULL || to->dtype != source->type->dtype) unfit(hint);
    switch (kind) {
    case VIEW_RESHAPE:
        found = to->count == source->type->count
                    ? reshape(source->type->rank, source->type->dims, source->strides, to, out) : -1;
        break;
    case VIEW_TRANSPOSE: found = transpose(hint, source, to, out) ? 1 : -1; break;
    case VIEW_BROADCAST: found = broadcast(source, to, out) ? 1 : -1; break;
    case VIEW_SLICE: found = slice(hint, source, to, out, offset); break;
    }
    if (found < 0) unfit(hint);
    return found == 0 ? NULL : layout_of(to, out);
}
