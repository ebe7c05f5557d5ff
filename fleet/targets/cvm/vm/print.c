/* print: its operands as Python and NumPy show them, or a text with numbered places for them. */
#include "vm.h"

typedef struct {
    int64_t operand;
    char conversion; /* 's', 'r', 'a' or 0 */
    Reader spec;
} Place;

_Noreturn static void wrong(const char *template) {
    fail("the print format \"%s\" has a place that is not an operand, too wide a one, or one that this program does not write",
         shown(template));
}

/* The text before the next place, and the place; false at the end. Moves `at` behind it. */
static bool next_place(const char *template, const char **at, Text *text, Place *place) {
    const char *p = *at;
    for (; *p != 0 && (*p != '{' || p[1] == '{'); p++) {
        if (*p == '}' && p[1] != '}') wrong(template);
        text_add(text, p, 1);
        p += *p == '{' || *p == '}';
    }
    *at = p;
    if (*p == 0) return false;
    const char *close = strchr(p, '}');
    if (close == NULL) wrong(template);
    Reader r = {p + 1, close};
    place->operand = read_size(&r);
    place->conversion = 0;
    if (read_word(&r, "!")) {
        place->conversion = peek(&r);
        if (place->conversion == 0 || strchr("sra", place->conversion) == NULL) wrong(template);
        r.at++;
    }
    bool spec = read_word(&r, ":");
    if (place->operand < 0 || (!spec && r.at < close) || memchr(r.at, '{', (size_t)(close - r.at)) != NULL) wrong(template);
    place->spec = r;
    *at = close + 1;
    return true;
}

static const char *template_of(const Hint *hint) {
    const Attribute *found = hint_attribute(hint, "format");
    return found == NULL || found->words[0].kind != TEXT ? NULL : found->words[0].text;
}

static void check_place(const Hint *hint, const char *template, const Place *place) {
    Spec spec;
    if (place->operand >= (int64_t)hint->count || !spec_parse(place->spec, &spec)) wrong(template);
    const Type *type = hint->types[place->operand];
    if (place->conversion != 0) {
        bool fits = (spec.type == 0 || spec.type == 's') && spec.sign == 0 && spec.group == 0 && (spec.align != '=' || spec.zero);
        if (!fits) wrong(template);
    } else if (place->spec.at < place->spec.end && (type->rank > 0 || !spec_fits(&spec, type->dtype))) {
        wrong(template);
    }
}

static int64_t limit(const Datum *json) {
    if (json->kind != REAL) return json->integer;
    return json->real >= 0x1p62 ? INT64_MAX : json->real > -0x1p62 ? (int64_t)floor(json->real) : INT64_MIN;
}

static int small(const Datum *json, const char *text) {
    if (json->kind != INTEGER || json->integer < 0 || json->integer > 700) fail("the print options \"%s\"", shown(text));
    return (int)json->integer;
}

static const PrintOptions *read_options(const char *text) {
    static const char *NAMES[] = {"precision", "threshold", "edgeitems", "linewidth", "suppress",
                                  "nanstr", "infstr", "sign", "floatmode"};
    static const char *MODES[] = {"maxprec", "fixed", "unique", "maxprec_equal"};
    enum { PRECISION, THRESHOLD, EDGE, WIDTH, SUPPRESS, NAN_TEXT, INFINITY_TEXT, SIGN, MODE, COUNT };
    PrintOptions *found = allocate(sizeof *found);
    *found = PRINT_DEFAULTS;
    Datum json = json_parse(text, strlen(text));
    bool good = json.kind == OBJECT;
    for (size_t i = 0; good && i < json.count; i++) {
        const Datum *value = &json.items[2 * i + 1];
        int name = 0, mode = 0;
        while (name < COUNT && strcmp(NAMES[name], json.items[2 * i].text) != 0) name++;
        if (name == SUPPRESS) found->suppress = value->kind == TRUTH && value->integer != 0;
        if (name == PRECISION) found->precision = small(value, text);
        if (name == EDGE) found->edgeitems = small(value, text);
        if (name == WIDTH) found->linewidth = limit(value);
        if (name == THRESHOLD) found->threshold = limit(value);
        if (name <= SUPPRESS) continue;
        good = name < COUNT && value->kind == TEXT && characters(value->text, strlen(value->text)) < 1000;
        if (!good) break;
        if (name == NAN_TEXT) found->nan = value->text;
        if (name == INFINITY_TEXT) found->infinity = value->text;
        if (name == SIGN) {
            found->sign = *value->text;
            good = strlen(value->text) == 1 && strchr("-+ ", found->sign) != NULL;
        }
        if (name == MODE) {
            while (mode <= MODE_MAXPREC_EQUAL && strcmp(MODES[mode], value->text) != 0) mode++;
            found->mode = (unsigned)mode;
            good = mode <= MODE_MAXPREC_EQUAL;
        }
    }
    if (!good) fail("the print options \"%s\"", shown(text));
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
    if (options->words[0].kind != TEXT) fail("print options that are no text");
    return read_options(options->words[0].text);
}

static void write_place(Text *text, const Hint *hint, const PrintOptions *options, const Value *values, const Place *place) {
    const Value *value = &values[place->operand];
    const Type *type = value->layout->type;
    bool python = hint->numbers[place->operand];
    Spec spec;
    (void)spec_parse(place->spec, &spec);
    if (place->conversion == 0 && place->spec.at < place->spec.end) {
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
