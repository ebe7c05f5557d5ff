/* print: its operands as Python and NumPy show them, or a text with numbered places for them. */
#include "vm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t operand;
    char conversion; /* 's', 'r', 'a' or 0 */
    const char *spec;
    size_t spec_length;
} Place;

_Noreturn static void wrong(const char *template) {
    fail("the print format \"%s\" has a place that is not an operand, too wide a one, or one that this program does not write",
         shown(template));
}

/* The text before the next place, and the place; false at the end. Moves `at` behind it. */
static bool next_place(const char *template, const char **at, Text *text, Place *place) {
    const char *p = *at;
    for (; *p != 0 && (*p != '{' || p[1] == '{'); p++) {
        if ((*p == '}' && p[1] != '}')) wrong(template);
        text_add(text, p, 1);
        p += *p == '{' || *p == '}';
    }
    if (*p == 0) {
        *at = p;
        return false;
    }
    const char *digits = ++p, *close = strchr(p, '}');
    Place found = {0, 0, "", 0};
    while (*p >= '0' && *p <= '9' && p - digits < 6) found.operand = 10 * found.operand + (size_t)(*p++ - '0');
    if (p == digits || close == NULL) wrong(template);
    if (*p == '!') {
        found.conversion = p[1];
        p += 2;
        if (close < p || strchr("sra", found.conversion) == NULL) wrong(template);
    }
    if (*p == ':') {
        found.spec = ++p;
        found.spec_length = (size_t)(close - p);
        p = close;
    }
    if (p != close || memchr(found.spec, '{', found.spec_length) != NULL) wrong(template);
    *at = close + 1;
    *place = found;
    return true;
}

static const char *template_of(const Hint *hint) {
    const Attribute *found = hint_attribute(hint, "format");
    return found == NULL || found->words[0].kind != WORD_TEXT ? NULL : found->words[0].text;
}

static void check_place(const Hint *hint, const char *template, const Place *place) {
    Spec spec;
    if (place->operand >= hint->count || !spec_parse(place->spec, place->spec_length, &spec)) wrong(template);
    const Type *type = hint->types[place->operand];
    bool text = place->conversion != 0;
    if (text) {
        bool fits = (spec.type == 0 || spec.type == 's') && spec.sign == 0 && spec.group == 0 && (spec.align != '=' || spec.zero);
        if (!fits) wrong(template);
    } else if (place->spec_length > 0 && (type->rank > 0 || !spec_fits(&spec, type->dtype))) {
        wrong(template);
    }
}

static int64_t limit(const Json *json) {
    if (json->kind == JSON_REAL) {
        return json->real >= 0x1p62 ? INT64_MAX : json->real > -0x1p62 ? (int64_t)floor(json->real) : INT64_MIN;
    }
    return json->integer;
}

static int small(const Json *json, const char *text) {
    if (json->kind != JSON_INTEGER || json->integer < 0 || json->integer > 700) fail("the print options \"%s\"", shown(text));
    return (int)json->integer;
}

static const PrintOptions *read_options(const char *text) {
    static const char *NAMES[] = {"precision", "threshold", "edgeitems", "linewidth", "suppress",
                                  "nanstr", "infstr", "sign", "floatmode"};
    static const char *MODES[] = {"maxprec", "fixed", "unique", "maxprec_equal"};
    enum { PRECISION, THRESHOLD, EDGE, WIDTH, SUPPRESS, NAN_TEXT, INFINITY_TEXT, SIGN, MODE, COUNT };
    PrintOptions *found = allocate(sizeof *found);
    *found = PRINT_DEFAULTS;
    Json json = json_parse(text, strlen(text));
    for (size_t i = 0; json.kind == JSON_OBJECT && i < json.count; i++) {
        const Json *value = &json.items[2 * i + 1];
        int name = 0, mode = 0;
        while (name < COUNT && strcmp(NAMES[name], json.items[2 * i].text) != 0) name++;
        bool word = value->kind == JSON_TEXT && characters(value->text, strlen(value->text)) < 1000;
        switch (name) {
        case PRECISION: found->precision = small(value, text); break;
        case EDGE: found->edgeitems = small(value, text); break;
        case WIDTH: found->linewidth = limit(value); break;
        case THRESHOLD: found->threshold = limit(value); break;
        case SUPPRESS: found->suppress = value->kind == JSON_TRUE; break;
        case NAN_TEXT: found->nan = word ? value->text : NULL; break;
        case INFINITY_TEXT: found->infinity = word ? value->text : NULL; break;
        case SIGN: found->sign = word && strlen(value->text) == 1 && strchr("-+ ", *value->text) != NULL ? *value->text : 0; break;
        case MODE:
            while (word && mode < 4 && strcmp(MODES[mode], value->text) != 0) mode++;
            found->mode = word ? (unsigned)mode : 4;
            break;
        default: found->sign = 0;
        }
    }
    if (json.kind != JSON_OBJECT || found->nan == NULL || found->infinity == NULL || found->sign == 0 || found->mode > MODE_MAXPREC_EQUAL) {
        fail("the print options \"%s\"", shown(text));
    }
    return found;
}

const PrintOptions *print_prepare(const Hint *hint) {
    const Attribute *options = hint_attribute(hint, "options");
    const char *template = template_of(hint), *at = template;
    if (template == NULL && hint_attribute(hint, "format") != NULL) fail("a print format that is not text");
    if (template != NULL) {
        Text text = {NULL, 0, 0};
        Place place;
        while (next_place(template, &at, &text, &place)) check_place(hint, template, &place);
        free(text.data);
    }
    if (options == NULL) return &PRINT_DEFAULTS;
    if (options->words[0].kind != WORD_TEXT) fail("print options that are no text");
    return read_options(options->words[0].text);
}

static void write_place(Text *text, const Hint *hint, const PrintOptions *options, const Value *values, const Place *place) {
    const Value *value = &values[place->operand];
    const Type *type = value->layout->type;
    bool python = hint->numbers[place->operand];
    Spec spec;
    (void)spec_parse(place->spec, place->spec_length, &spec);
    if (place->conversion == 0 && place->spec_length > 0) {
        format_number(text, type->dtype, value->data, &spec);
        return;
    }
    Text word = {NULL, 0, 0};
    if (place->conversion == 0 && type->rank == 0 && type->dtype == F32) { /* NumPy formats it as Python's float */
        double real = number_real(F32, value->data);
        number_text(&word, F64, (const char *)&real);
    } else {
        value_text(&word, value, python, place->conversion == 'r' || place->conversion == 'a', options);
    }
    format_text(text, word.data, word.length, &spec);
    free(word.data);
}

void print_values(const Hint *hint, const PrintOptions *options, const Value *values) {
    const char *template = template_of(hint), *at = template;
    Text text = {NULL, 0, 0};
    text_word(&text, "");
    if (template != NULL) {
        Place place;
        while (next_place(template, &at, &text, &place)) write_place(&text, hint, options, values, &place);
    } else {
        for (size_t i = 0; i < hint->count; i++) {
            text_word(&text, i > 0 ? " " : "");
            value_text(&text, &values[i], hint->numbers[i], false, options);
        }
        text_word(&text, "\n");
    }
    if (fwrite(text.data, 1, text.length, stdout) != text.length) fail("what the program prints cannot be written");
    free(text.data);
}
