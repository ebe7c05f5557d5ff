/* Decimal digits of floats: the shortest that give a number back, and NumPy's two ways to write them. */
#include "vm.h"

/* "d.ddde+xx" as digits without zeros at the end. */
static Decimal taken_apart(const char *written) {
    Decimal found = {.negative = *written == '-'};
    const char *at = written + found.negative;
    for (; *at != 'e'; at++)
        if (*at != '.' && found.count < (int)sizeof found.digits - 1) found.digits[found.count++] = *at;
    found.exponent = (int)strtol(at + 1, NULL, 10);
    while (found.count > 1 && found.digits[found.count - 1] == '0') found.count--;
    found.digits[found.count] = 0;
    return found;
}

Decimal rounded(double value, int places) {
    char written[1024];
    snprintf(written, sizeof written, "%.*e", places < 700 ? places : 700, value);
    return taken_apart(written);
}

static bool gives(const char *written, double value, bool single) {
    return single ? strtof(written, NULL) == (float)value : strtod(written, NULL) == value;
}

/* The next larger decimal with as many digits: what is nearest need not give a power of two back, whose neighbours are not even. */
static void next_up(char *written) {
    char *exponent = strchr(written, 'e');
    for (char *at = exponent - 1; at >= written; at--) {
        if (*at == '.' || *at == '-') continue;
        if (*at != '9') {
            (*at)++;
            return;
        }
        *at = '0';
    }
    written[*written == '-'] = '1'; /* 9.99 became 10.0: no power of two, never the shortest */
}

Decimal shortest(double value, bool single) {
    char written[64], next[64];
    for (int places = 0;; places++) {
        snprintf(written, sizeof written, "%.*e", places, value);
        if (places >= (single ? 8 : 16) || gives(written, value, single)) return taken_apart(written);
        memcpy(next, written, sizeof next);
        next_up(next);
        if (gives(next, value, single)) return taken_apart(next);
    }
}

static bool odd(Text *text, double value) {
    if (isnan(value)) text_word(text, "nan");
    else if (isinf(value)) text_word(text, value < 0 ? "-inf" : "inf");
    return !isfinite(value);
}

void positional(Text *text, double value, bool single, int places) {
    if (odd(text, value)) return;
    Decimal d = shortest(value, single);
    if (places >= 0 && d.count - 1 - d.exponent > places) { /* more digits behind the point than wanted: round the number itself */
        Text fixed = {NULL, 0, 0};
        text_printf(&fixed, "%.*f", places, value);
        size_t length = fixed.length;
        while (places > 0 && fixed.data[length - 1] == '0') length--;
        text_add(text, fixed.data, length);
        text_word(text, places == 0 ? "." : "");
        free(fixed.data);
        return;
    }
    text_word(text, d.negative ? "-" : "");
    int before = d.exponent + 1, given = d.count < before ? d.count : before; /* digits before the point */
    if (before <= 0) {
        text_word(text, "0.");
        text_fill(text, '0', (size_t)-before);
        text_word(text, d.digits);
    } else {
        text_add(text, d.digits, (size_t)given);
        text_fill(text, '0', (size_t)(before - given));
        text_printf(text, ".%s", d.digits + given);
    }
}

void exponential(Text *text, const Decimal *d, bool point) {
    text_printf(text, "%s%c%s", d->negative ? "-" : "", d->digits[0], point || d->count > 1 ? "." : "");
    text_printf(text, "%se%c%02d", d->digits + 1, d->exponent < 0 ? '-' : '+', abs(d->exponent));
}

void scientific(Text *text, double value, bool single, int places) {
    if (odd(text, value)) return;
    Decimal d = shortest(value, single);
    if (places >= 0 && d.count - 1 > places) d = rounded(value, places);
    exponential(text, &d, true);
}

void number_text(Text *text, Dtype dtype, const char *data) {
    int64_t integer = 0;
    if (dtype == BOOL) {
        text_word(text, *data != 0 ? "True" : "False");
    } else if (dtype == U64) {
        uint64_t number;
        memcpy(&number, data, sizeof number);
        text_printf(text, "%llu", (unsigned long long)number);
    } else if (dtype > F64) {
        (void)number_integer(dtype, data, &integer);
        text_printf(text, "%lld", (long long)integer);
    } else {
        double value = number_real(dtype, data), size = fabs(value);
        if (!isfinite(value) || size == 0 || (size < (dtype == F32 ? 1e6 : 1e16) && size >= 1e-4)) {
            positional(text, value, dtype == F32, -1);
            text_word(text, text->data[text->length - 1] == '.' ? "0" : "");
        } else {
            Decimal d = shortest(value, dtype == F32);
            exponential(text, &d, false);
        }
    }
}
