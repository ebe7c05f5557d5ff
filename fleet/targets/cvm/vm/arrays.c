/* Arrays as text, after NumPy 2's array2string: widths from all elements that are shown, lines of at most `linewidth` characters. */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const PrintOptions PRINT_DEFAULTS = {8, 3, 1000, 75, false, "nan", "inf", '-', MODE_MAXPREC};

typedef struct {
    const PrintOptions *options;
    Dtype dtype;
    bool single, exponents, unique;
    /* of the elements that are shown */
    int64_t count, finite;
    double most, least; /* of those that are not 0 */
    bool negative, minus_infinity;
    int left, right, fraction, exponent;
    int precision, least_digits;
    char trim;
    size_t width; /* of integers */
    bool any_negative, not_negative;
} Format;

typedef void Each(Format *format, const char *element);

/* The elements at the corners of a summarised array, all of another. */
static void shown_elements(const Value *value, int axis, const char *at, Format *format, int64_t edge, Each *each) {
    const Type *type = value->layout->type;
    if (axis == type->rank) {
        each(format, at);
        return;
    }
    int64_t length = type->dims[axis], size = (int64_t)DTYPES[type->dtype].size;
    for (int64_t i = 0; i < length; i++) {
        if (edge >= 0 && length > 2 * edge && i == edge) {
            i = length - edge;
            if (i == length) break;
        }
        shown_elements(value, axis + 1, at + i * value->layout->strides[axis] * size, format, edge, each);
    }
}

static void meet_float(Format *f, const char *element) {
    double value = number_real(f->dtype, element), size = fabs(value);
    f->count++;
    if (!isfinite(value)) {
        f->minus_infinity = f->minus_infinity || (isinf(value) && value < 0);
        return;
    }
    f->finite++;
    f->negative = f->negative || signbit(value);
    if (size != 0) {
        f->most = size > f->most ? size : f->most;
        f->least = size < f->least ? size : f->least;
    }
}

static void write_float(Format *f, Text *text, double value, int precision, bool unique) {
    if (f->options->sign == '+' && !signbit(value)) text_word(text, "+");
    if (unique) (f->exponents ? scientific : positional)(text, value, f->single, precision);
    else if (f->exponents) text_printf(text, precision == 0 ? "%#.*e" : "%.*e", precision, value);
    else text_printf(text, precision == 0 ? "%#.*f" : "%.*f", precision, value);
}

static int larger(int a, int b) { return a > b ? a : b; }

static void measure_float(Format *f, const char *element) {
    double value = number_real(f->dtype, element);
    if (!isfinite(value)) return;
    Text text = {NULL, 0, 0};
    write_float(f, &text, value, f->options->mode == MODE_UNIQUE ? -1 : f->options->precision, f->unique);
    const char *point = strchr(text.data, '.'), *power = strchr(text.data, 'e');
    size_t end = power == NULL ? text.length : (size_t)(power - text.data), before = point == NULL ? end : (size_t)(point - text.data);
    f->left = larger(f->left, (int)before);
    f->fraction = larger(f->fraction, point == NULL ? 0 : (int)(end - before) - 1);
    f->exponent = larger(f->exponent, power == NULL ? 0 : (int)(text.length - end) - 2);
    free(text.data);
}

static void prepare_floats(Format *f, const Value *value, int64_t edge) {
    const PrintOptions *o = f->options;
    f->single = f->dtype == F32;
    f->least = INFINITY;
    f->unique = o->mode != MODE_FIXED;
    shown_elements(value, 0, value->data, f, edge, meet_float);
    if (f->most > 0) {
        /* NumPy divides float32 as such, and turns to exponents from 10 ** (decimal digits of the dtype) on, at most 10 ** 8 */
        double ratio = f->single ? (float)f->most / (float)f->least : f->most / f->least;
        f->exponents = f->most >= (f->single ? 1e6 : 1e8) || (!o->suppress && (f->least < 0.0001 || ratio > 1000));
    }
    shown_elements(value, 0, value->data, f, edge, measure_float);
    f->precision = o->mode == MODE_UNIQUE ? -1 : o->precision;
    if (f->finite == 0) {
        f->right = 0;
    } else if (f->exponents) {
        f->trim = 'k';
        f->precision = f->least_digits = f->fraction;
        f->right = f->exponent + 2 + f->fraction;
    } else {
        f->right = f->fraction;
        if (o->mode == MODE_FIXED || o->mode == MODE_MAXPREC_EQUAL) {
            f->trim = 'k';
            f->precision = f->least_digits = f->fraction;
        }
    }
    if (o->sign == ' ' && !f->negative) f->left++;
    if (f->count != f->finite) {
        int offset = f->right + 1, minus = o->sign != '-' || f->minus_infinity;
        f->left = larger(f->left, (int)characters(o->nan, strlen(o->nan)) - offset);
        f->left = larger(f->left, (int)characters(o->infinity, strlen(o->infinity)) + minus - offset);
    }
}

static void text_padded(Text *text, const Text *word, int width) {
    int length = word->data == NULL ? 0 : (int)characters(word->data, word->length);
    text_fill(text, ' ', (size_t)larger(0, width - length));
    text_add(text, word->data == NULL ? "" : word->data, word->length);
}

static int behind_point(const Text *word) {
    const char *point = strchr(word->data, '.');
    return point == NULL ? 0 : (int)strspn(point + 1, "0123456789");
}

static void format_float(Format *f, Text *text, const char *element) {
    double value = number_real(f->dtype, element);
    Text word = {NULL, 0, 0};
    if (!isfinite(value)) {
        text_word(&word, isinf(value) && value < 0 ? "-" : f->options->sign == '+' ? "+" : "");
        text_word(&word, isnan(value) ? f->options->nan : f->options->infinity);
        text_padded(text, &word, f->left + f->right + 1);
        free(word.data);
        return;
    }
    write_float(f, &word, value, f->precision, f->unique);
    if (f->trim == 'k' && f->unique && behind_point(&word) < f->least_digits) { /* NumPy goes on with the digits that it really has */
        word.length = 0;
        write_float(f, &word, value, f->least_digits, false);
    }
    char *point = strchr(word.data, '.'), *power = strchr(word.data, 'e');
    int before = (int)(point - word.data), end = power == NULL ? (int)word.length : (int)(power - word.data);
    text_fill(text, ' ', (size_t)larger(0, f->left - before));
    text_add(text, word.data, (size_t)end);
    if (power != NULL) {
        text_add(text, power, 2);
        text_fill(text, '0', (size_t)larger(0, f->exponent - ((int)word.length - end - 2)));
        text_word(text, power + 2);
    } else {
        text_fill(text, ' ', (size_t)larger(0, f->right - behind_point(&word)));
    }
    free(word.data);
}

static void measure_integer(Format *f, const char *element) {
    Text text = {NULL, 0, 0};
    int64_t number = 0;
    number_text(&text, f->dtype, element);
    bool negative = f->dtype != U64 && number_integer(f->dtype, element, &number) && number < 0;
    f->any_negative = f->any_negative || negative;
    f->not_negative = f->not_negative || !negative;
    f->width = text.length > f->width ? text.length : f->width;
    f->count++;
    if (!negative) f->left = larger(f->left, (int)text.length);
    free(text.data);
}

static void prepare_integers(Format *f, const Value *value, int64_t edge) {
    shown_elements(value, 0, value->data, f, edge, measure_integer);
    char sign = f->options->sign == ' ' && f->any_negative ? '-' : f->options->sign;
    if (f->not_negative && sign != '-' && (size_t)f->left + 1 > f->width) f->width = (size_t)f->left + 1;
    f->trim = sign;
}

static void format_integer(Format *f, Text *text, const char *element) {
    Text word = {NULL, 0, 0}, number = {NULL, 0, 0};
    number_text(&number, f->dtype, element);
    if (f->trim != '-' && number.data[0] != '-') text_add(&word, &f->trim, 1);
    text_add(&word, number.data, number.length);
    text_padded(text, &word, (int)f->width);
    free(word.data);
    free(number.data);
}

static void format_element(Format *f, Text *text, const char *element) {
    if (f->dtype == BOOL) text_word(text, *element != 0 ? " True" : "False");
    else if (f->dtype <= F64) format_float(f, text, element);
    else format_integer(f, text, element);
}

typedef struct {
    const Value *value;
    Format *format;
    const char *separator;
    bool summary;
    int64_t edge;
} Writer;

/* Adds a word to the line, or begins another line with it. */
static void extend(Text *text, size_t *line, const char *word, size_t length, int64_t width, size_t indent) {
    size_t used = characters(text->data + *line, text->length - *line);
    if ((int64_t)(used + characters(word, length)) > width && used > indent) {
        while (text->length > *line && text->data[text->length - 1] == ' ') text->length--;
        text_word(text, "\n");
        *line = text->length;
        text_fill(text, ' ', indent);
    }
    text_add(text, word, length);
}

static void write_row(Writer *w, Text *text, const char *at, int64_t width, size_t indent) {
    const Type *type = w->value->layout->type;
    int axis = type->rank - 1;
    int64_t length = type->dims[axis], step = w->value->layout->strides[axis] * (int64_t)DTYPES[type->dtype].size;
    bool summary = w->summary && 2 * w->edge < length;
    Text row = {NULL, 0, 0};
    size_t line = 0;
    text_fill(&row, ' ', indent);
    for (int64_t i = 0; i < length; i++) {
        if (summary && i == w->edge) {
            extend(&row, &line, "...", 3, width - 1, indent);
            text_word(&row, w->edge > 0 ? w->separator : w->separator); /* even where nothing follows */
            i = length - w->edge;
            if (i == length) { /* NumPy shows the last element in any case */
                i = length - 1;
            }
        }
        Text word = {NULL, 0, 0};
        format_element(w->format, &word, at + i * step);
        extend(&row, &line, word.data, word.length, width - 1, indent);
        free(word.data);
        if (i + 1 < length) text_word(&row, w->separator);
    }
    text_add(text, row.data + indent, row.length - indent);
    free(row.data);
}

static void write_axis(Writer *w, Text *text, int axis, const char *at, int64_t width, size_t indent) {
    const Type *type = w->value->layout->type;
    text_word(text, "[");
    if (axis == type->rank - 1) {
        write_row(w, text, at, width, indent);
    } else {
        int64_t length = type->dims[axis], step = w->value->layout->strides[axis] * (int64_t)DTYPES[type->dtype].size;
        bool summary = w->summary && 2 * w->edge < length;
        for (int64_t i = 0; i < length; i++) {
            if (i > 0) {
                text_add(text, w->separator, w->separator[0] == ',' ? 1 : 0);
                text_fill(text, '\n', (size_t)(type->rank - axis - 1));
                text_fill(text, ' ', indent);
            }
            if (summary && i == w->edge) {
                text_word(text, "...");
                i = w->edge > 0 ? length - w->edge - 1 : length - 2;
                continue;
            }
            write_axis(w, text, axis + 1, at + i * step, width - 1, indent + 1);
        }
    }
    text_word(text, "]");
}

static void array_text(Text *text, const Value *value, const char *separator, int prefix, int suffix, const PrintOptions *options) {
    const Type *type = value->layout->type;
    Format format = {.options = options, .dtype = type->dtype, .trim = '.'};
    Writer writer = {value, &format, separator, type->count > options->threshold, options->edgeitems};
    if (type->count == 0) {
        text_word(text, "[]");
        return;
    }
    int64_t edge = writer.summary ? options->edgeitems : -1;
    if (type->dtype <= F64) prepare_floats(&format, value, edge);
    else if (type->dtype != BOOL) prepare_integers(&format, value, edge);
    write_axis(&writer, text, 0, value->data, options->linewidth - suffix, (size_t)prefix + 1);
}

static void shape_text(Text *text, const Type *type) {
    text_word(text, "shape=(");
    for (int i = 0; i < type->rank; i++) text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)type->dims[i]);
    text_word(text, type->rank == 1 ? ",)" : ")");
}

static void array_repr(Text *text, const Value *value, const PrintOptions *options) {
    const Type *type = value->layout->type;
    bool implied = type->dtype == BOOL || type->dtype == I64 || type->dtype == F64;
    Text array = {NULL, 0, 0}, extra = {NULL, 0, 0};
    text_word(&array, "array(");
    array_text(&array, value, ", ", 6, 1, options);
    if ((type->count == 0 && !(type->rank == 1)) || type->count > options->threshold) shape_text(&extra, type);
    if (!implied || type->count == 0) {
        text_printf(&extra, "%sdtype=%s", extra.length > 0 ? ", " : "", DTYPES[type->dtype].numpy);
    }
    if (extra.length > 0) {
        text_word(&array, ",");
        const char *last = array.data + array.length;
        while (last > array.data && last[-1] != '\n') last--;
        size_t line = characters(last, (size_t)(array.data + array.length - last));
        bool apart = (int64_t)(line + extra.length + 2) > options->linewidth;
        text_word(&array, apart ? "\n      " : " ");
        text_add(&array, extra.data, extra.length);
    }
    text_word(&array, ")");
    text_add(text, array.data, array.length);
    free(array.data);
    free(extra.data);
}

void value_text(Text *text, const Value *value, bool python, bool repr, const PrintOptions *options) {
    const Type *type = value->layout->type;
    if (type->rank > 0) {
        if (repr) array_repr(text, value, options);
        else array_text(text, value, " ", 0, 0, options);
    } else if (!repr || python) {
        number_text(text, type->dtype, value->data);
    } else if (type->dtype == BOOL) {
        text_word(text, *value->data != 0 ? "np.True_" : "np.False_");
    } else {
        text_printf(text, "np.%s(", DTYPES[type->dtype].numpy);
        number_text(text, type->dtype, value->data);
        text_word(text, ")");
    }
}
