/* Arrays as text, after NumPy 2's array2string: widths of all elements that are shown, lines of at most `linewidth` characters. */
#include "vm.h"

const PrintOptions PRINT_DEFAULTS = {8, 3, 1000, 75, false, "nan", "inf", '-', MODE_MAXPREC};

typedef struct {
    const Value *value;
    const PrintOptions *options;
    const char *separator;
    int64_t edge; /* elements that are shown at each end of a long axis; -1: all are */
    Dtype dtype;
    bool single, exponents, unique;
    /* of the elements that are shown */
    int64_t count, finite;
    double most, least; /* of those that are not 0 */
    bool negative, minus_infinity;
    int left, right, fraction, exponent;
    int precision;
    bool filled; /* all have as many digits behind the point */
    int width;   /* of integers */
    char sign;   /* before those that are not negative, '-': none */
} Format;

static bool shortened(const Format *f, int64_t length) { return f->edge >= 0 && length > 2 * f->edge; }

static const char *next_to(const Format *f, int axis, const char *at, int64_t steps) {
    return at + steps * f->value->layout->strides[axis] * (int64_t)DTYPES[f->dtype].size;
}

typedef void Each(Format *format, const char *element);

/* The elements at the corners of a summarised array, all of another. */
static void shown_elements(Format *f, int axis, const char *at, Each *each) {
    const Type *type = f->value->layout->type;
    if (axis == type->rank) {
        each(f, at);
        return;
    }
    int64_t length = type->dims[axis];
    for (int64_t i = 0; i < length; i++) {
        if (i == f->edge && shortened(f, length)) i = length - f->edge;
        if (i < length) shown_elements(f, axis + 1, next_to(f, axis, at, i), each);
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

/* How many characters a written number has before its point and behind it, and digits in its exponent. */
typedef struct {
    int before, fraction, exponent, end; /* end: of the digits */
} Parts;

static Parts parts_of(const Text *word) {
    const char *point = strchr(word->data, '.'), *power = strchr(word->data, 'e');
    int end = power == NULL ? (int)word->length : (int)(power - word->data);
    int before = point == NULL ? end : (int)(point - word->data);
    return (Parts){before, point == NULL ? 0 : end - before - 1, power == NULL ? 0 : (int)word->length - end - 2, end};
}

static void measure_float(Format *f, const char *element) {
    double value = number_real(f->dtype, element);
    if (!isfinite(value)) return;
    Text text = {NULL, 0, 0};
    write_float(f, &text, value, f->options->mode == MODE_UNIQUE ? -1 : f->options->precision, f->unique);
    Parts parts = parts_of(&text);
    f->left = larger(f->left, parts.before);
    f->fraction = larger(f->fraction, parts.fraction);
    f->exponent = larger(f->exponent, parts.exponent);
    free(text.data);
}

static void prepare_floats(Format *f) {
    const PrintOptions *o = f->options;
    f->single = f->dtype == F32;
    f->least = INFINITY;
    f->unique = o->mode != MODE_FIXED;
    shown_elements(f, 0, f->value->data, meet_float);
    if (f->most > 0) {
        /* NumPy divides float32 as such, and turns to exponents from 10 ** (decimal digits of the dtype) on, at most 10 ** 8 */
        double ratio = f->single ? (float)f->most / (float)f->least : f->most / f->least;
        f->exponents = f->most >= (f->single ? 1e6 : 1e8) || (!o->suppress && (f->least < 0.0001 || ratio > 1000));
    }
    shown_elements(f, 0, f->value->data, measure_float);
    f->precision = o->mode == MODE_UNIQUE ? -1 : o->precision;
    f->right = f->exponents ? f->exponent + 2 + f->fraction : f->fraction;
    f->filled = f->exponents || o->mode == MODE_FIXED || o->mode == MODE_MAXPREC_EQUAL;
    if (f->filled && f->finite > 0) f->precision = f->fraction;
    if (o->sign == ' ' && !f->negative) f->left++;
    if (f->count != f->finite) {
        int offset = f->right + 1, minus = o->sign != '-' || f->minus_infinity;
        f->left = larger(f->left, (int)characters(o->nan, strlen(o->nan)) - offset);
        f->left = larger(f->left, (int)characters(o->infinity, strlen(o->infinity)) + minus - offset);
    }
}

static void format_float(Format *f, Text *text, const char *element) {
    double value = number_real(f->dtype, element);
    Text word = {NULL, 0, 0};
    if (!isfinite(value)) {
        text_word(&word, isinf(value) && value < 0 ? "-" : f->options->sign == '+' ? "+" : "");
        text_word(&word, isnan(value) ? f->options->nan : f->options->infinity);
        text_fill(text, ' ', (size_t)larger(0, f->left + f->right + 1 - (int)characters(word.data, word.length)));
        text_add(text, word.data, word.length);
        free(word.data);
        return;
    }
    write_float(f, &word, value, f->precision, f->unique);
    if (f->filled && f->unique && parts_of(&word).fraction < f->precision) { /* NumPy goes on with the digits that it really has */
        word.length = 0;
        write_float(f, &word, value, f->precision, false);
    }
    Parts parts = parts_of(&word);
    text_fill(text, ' ', (size_t)larger(0, f->left - parts.before));
    text_add(text, word.data, (size_t)parts.end);
    if (f->exponents) {
        text_add(text, word.data + parts.end, 2);
        text_fill(text, '0', (size_t)larger(0, f->exponent - parts.exponent));
        text_word(text, word.data + parts.end + 2);
    } else {
        text_fill(text, ' ', (size_t)larger(0, f->right - parts.fraction));
    }
    free(word.data);
}

static void measure_integer(Format *f, const char *element) {
    Text text = {NULL, 0, 0};
    int64_t number = 0;
    number_text(&text, f->dtype, element);
    bool negative = f->dtype != U64 && number_integer(f->dtype, element, &number) && number < 0;
    f->negative = f->negative || negative;
    f->width = larger(f->width, (int)text.length);
    if (!negative) f->left = larger(f->left, (int)text.length);
    free(text.data);
}

static void prepare_integers(Format *f) {
    shown_elements(f, 0, f->value->data, measure_integer);
    f->sign = f->options->sign == ' ' && f->negative ? '-' : f->options->sign;
    if (f->left > 0 && f->sign != '-') f->width = larger(f->width, f->left + 1);
}

static void format_integer(Format *f, Text *text, const char *element) {
    Text number = {NULL, 0, 0};
    number_text(&number, f->dtype, element);
    bool sign = f->sign != '-' && number.data[0] != '-';
    text_fill(text, ' ', (size_t)larger(0, f->width - (int)number.length - sign));
    text_add(text, &f->sign, sign);
    text_add(text, number.data, number.length);
    free(number.data);
}

static void format_element(Format *f, Text *text, const char *element) {
    if (f->dtype == BOOL) text_word(text, *element != 0 ? " True" : "False");
    else if (f->dtype <= F64) format_float(f, text, element);
    else format_integer(f, text, element);
}

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

static void write_row(Format *f, Text *text, const char *at, int64_t width, size_t indent) {
    const Type *type = f->value->layout->type;
    int64_t length = type->dims[type->rank - 1];
    Text row = {NULL, 0, 0};
    size_t line = 0;
    text_fill(&row, ' ', indent);
    for (int64_t i = 0; i < length; i++) {
        if (i == f->edge && shortened(f, length)) {
            extend(&row, &line, "...", 3, width - 1, indent);
            text_word(&row, f->separator); /* even where nothing follows */
            i = f->edge > 0 ? length - f->edge : length - 1; /* NumPy shows the last element in any case */
        }
        Text word = {NULL, 0, 0};
        format_element(f, &word, next_to(f, type->rank - 1, at, i));
        extend(&row, &line, word.data, word.length, width - 1, indent);
        free(word.data);
        if (i + 1 < length) text_word(&row, f->separator);
    }
    text_add(text, row.data + indent, row.length - indent);
    free(row.data);
}

static void write_axis(Format *f, Text *text, int axis, const char *at, int64_t width, size_t indent) {
    const Type *type = f->value->layout->type;
    bool rows = axis == type->rank - 1;
    int64_t length = type->dims[axis];
    text_word(text, "[");
    if (rows) write_row(f, text, at, width, indent);
    for (int64_t i = 0; i < length && !rows; i++) {
        if (i > 0) {
            text_add(text, f->separator, f->separator[0] == ',' ? 1 : 0);
            text_fill(text, '\n', (size_t)(type->rank - axis - 1));
            text_fill(text, ' ', indent);
        }
        if (i == f->edge && shortened(f, length)) {
            text_word(text, "...");
            i = f->edge > 0 ? length - f->edge - 1 : length - 2;
        } else {
            write_axis(f, text, axis + 1, next_to(f, axis, at, i), width - 1, indent + 1);
        }
    }
    text_word(text, "]");
}

static void array_text(Text *text, const Value *value, const char *separator, int prefix, int suffix, const PrintOptions *options) {
    const Type *type = value->layout->type;
    int64_t edge = type->count > options->threshold ? options->edgeitems : -1;
    Format format = {.value = value, .options = options, .separator = separator, .edge = edge, .dtype = type->dtype};
    if (type->count == 0) {
        text_word(text, "[]");
        return;
    }
    if (type->dtype <= F64) prepare_floats(&format);
    else if (type->dtype != BOOL) prepare_integers(&format);
    write_axis(&format, text, 0, value->data, options->linewidth - suffix, (size_t)prefix + 1);
}

static void array_repr(Text *text, const Value *value, const PrintOptions *options) {
    const Type *type = value->layout->type;
    bool implied = type->dtype == BOOL || type->dtype == I64 || type->dtype == F64;
    Text array = {NULL, 0, 0}, extra = {NULL, 0, 0};
    text_word(&array, "array(");
    array_text(&array, value, ", ", 6, 1, options);
    if ((type->count == 0 && type->rank != 1) || type->count > options->threshold) {
        text_word(&extra, "shape=(");
        for (int i = 0; i < type->rank; i++) text_printf(&extra, "%s%lld", i > 0 ? ", " : "", (long long)type->dims[i]);
        text_word(&extra, type->rank == 1 ? ",)" : ")");
    }
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
