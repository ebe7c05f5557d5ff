/* Python's format specifications, [[fill]align][sign][0][width][grouping][.precision][type], for numbers and texts. */
#include "vm.h"

static size_t letter(const char *at, const char *end) {
    size_t length = 1;
    while (at + length < end && ((unsigned char)at[length] & 0xC0) == 0x80) length++;
    return length;
}

static bool one_of(char c, const char *of) { return c != 0 && strchr(of, c) != NULL; }

/* -1 without a digit; 1000 and more are too many for any use. */
static int number(Reader *r) {
    int64_t found = read_size(r);
    return found > 1000 ? 1000 : (int)found;
}

/* One of these characters if it comes next, else 0. */
static char next_of(Reader *r, const char *of) { return one_of(peek(r), of) ? *r->at++ : 0; }

bool spec_parse(Reader r, Spec *spec) {
    Spec found = {.fill = " ", .fill_length = 1, .width = -1, .precision = -1};
    size_t first = r.at < r.end ? letter(r.at, r.end) : 0;
    if (r.at + first < r.end && one_of(r.at[first], "<>=^")) {
        found.fill = r.at;
        found.fill_length = first;
        r.at += first;
    }
    found.align = next_of(&r, "<>=^");
    found.sign = next_of(&r, "+- ");
    found.zero = next_of(&r, "0") != 0;
    if (found.zero && found.align == 0) {
        found.fill = "0";
        found.align = '=';
    }
    found.width = number(&r);
    found.group = next_of(&r, ",_");
    if (read_word(&r, ".") && (found.precision = number(&r)) < 0) return false;
    if (r.at < r.end) found.type = *r.at++;
    *spec = found;
    return r.at == r.end && found.width < 1000 && found.precision < 1000 && !(found.group != 0 && found.fill[0] == '0');
}

bool spec_fits(const Spec *spec, Dtype dtype) {
    bool whole = dtype > F64;
    if (spec->type != 0 && !one_of(spec->type, "eEfFgG%") && !(whole && one_of(spec->type, "dboxX"))) return false;
    bool integer = whole && (spec->type == 0 || one_of(spec->type, "dboxX"));
    return !(integer && spec->precision >= 0) && !(spec->group == ',' && one_of(spec->type, "boxX"));
}

static void padded(Text *text, const Spec *spec, const char *sign, const char *body, size_t length, char usual) {
    size_t have = strlen(sign) + characters(body, length), want = spec->width < 0 ? 0 : (size_t)spec->width;
    size_t more = want > have ? want - have : 0;
    char align = spec->align != 0 ? spec->align : usual;
    size_t before = align == '<' || align == '=' ? 0 : align == '^' ? more / 2 : more;
    size_t inside = align == '=' ? more : 0;
    for (size_t i = 0; i < before; i++) text_add(text, spec->fill, spec->fill_length);
    text_word(text, sign);
    for (size_t i = 0; i < inside; i++) text_add(text, spec->fill, spec->fill_length);
    text_add(text, body, length);
    for (size_t i = before + inside; i < more; i++) text_add(text, spec->fill, spec->fill_length);
}

void format_text(Text *text, const char *data, size_t length, const Spec *spec) {
    size_t kept = 0, count = 0;
    while (kept < length && (spec->precision < 0 || count < (size_t)spec->precision)) {
        kept += letter(data + kept, data + length);
        count++;
    }
    Spec own = *spec;
    own.align = spec->zero && spec->align == '=' ? '<' : spec->align; /* zeros stand behind a text */
    padded(text, &own, "", data, kept, '<');
}

/* The digits of an integer in a base, the last first turned round. */
static void integer_body(Text *body, uint64_t size, char type) {
    char digits[65];
    int count = 0;
    unsigned base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    do {
        digits[count++] = (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[size % base];
        size /= base;
    } while (size > 0);
    while (count > 0) text_add(body, &digits[--count], 1);
}

/* The number without its sign. */
static void real_body(Text *body, double value, const Spec *spec) {
    char type = spec->type;
    int precision = spec->precision;
    if (!isfinite(value)) {
        text_word(body, isnan(value) ? (one_of(type, "EFG") ? "NAN" : "nan") : one_of(type, "EFG") ? "INF" : "inf");
        text_word(body, type == '%' ? "%" : "");
        return;
    }
    if (type == 0 && precision < 0) {
        number_text(body, F64, (const char *)&value);
        return;
    }
    if (type == 0) { /* as g, but with a digit behind the point, and earlier with an exponent */
        precision = precision == 0 ? 1 : precision;
        Decimal d = rounded(value, precision - 1);
        if (d.exponent < -4 || d.exponent >= precision - 1) {
            exponential(body, &d, false);
        } else {
            text_printf(body, "%.*g", precision, value);
            text_word(body, strchr(body->data, '.') == NULL ? ".0" : "");
        }
        return;
    }
    precision = precision < 0 ? 6 : precision;
    switch (type) { /* formats are written out for the compiler to check */
    case 'e': text_printf(body, "%.*e", precision, value); break;
    case 'E': text_printf(body, "%.*E", precision, value); break;
    case 'g': text_printf(body, "%.*g", precision, value); break;
    case 'G': text_printf(body, "%.*G", precision, value); break;
    case '%': text_printf(body, "%.*f%%", precision, value * 100); break;
    default: text_printf(body, "%.*f", precision, value); break;
    }
}

static void grouped(Text *body, char mark, int every) {
    size_t whole = strspn(body->data, every == 3 ? "0123456789" : "0123456789abcdefABCDEF");
    Text found = {NULL, 0, 0};
    for (size_t i = 0; i < body->length; i++) {
        if (i > 0 && i < whole && (whole - i) % (size_t)every == 0) text_add(&found, &mark, 1);
        text_add(&found, body->data + i, 1);
    }
    free(body->data);
    *body = found;
}

void format_number(Text *text, Dtype dtype, const char *data, const Spec *spec) {
    bool integer = dtype > F64 && (spec->type == 0 || one_of(spec->type, "dboxX")), negative;
    Text body = {NULL, 0, 0};
    if (integer) {
        int64_t number = 0;
        uint64_t size;
        (void)number_integer(dtype, data, &number);
        negative = dtype != U64 && number < 0;
        size = negative ? 0 - (uint64_t)number : (uint64_t)number;
        if (dtype == U64) memcpy(&size, data, sizeof size);
        integer_body(&body, size, spec->type);
    } else {
        double value = number_real(dtype, data);
        negative = signbit(value) != 0 && !isnan(value);
        real_body(&body, fabs(value), spec);
    }
    if (spec->group != 0) grouped(&body, spec->group, one_of(spec->type, "boxX") ? 4 : 3);
    padded(text, spec, negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "", body.data, body.length, '>');
    free(body.data);
}
